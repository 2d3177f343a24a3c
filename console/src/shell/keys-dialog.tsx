import { Dialog } from '../parts/dialog.tsx';
import { isMac } from './navigation.tsx';
import { KEYS_OFF } from './shortcuts.ts';
import { recall, remember } from './theme.ts';

export function KeysDialog({ onClose }: { onClose: () => void }) {
  const keys: readonly (readonly [string, string])[] = [
    [isMac() ? '⌘ K' : 'Ctrl K', 'Search and go anywhere'],
    ['/', 'Filter the list'],
    ['g o', 'Overview of the organization'],
    ['g m', 'Members'],
    ['g t', 'Teams'],
    ['g r', 'Roles'],
    ['g c', 'Clusters'],
    ['g a', 'Audit log'],
    ['g w', 'Why'],
    ['g x', 'Matrix'],
    ['j  k', 'Next and previous row'],
    ['Enter', 'Open the row'],
    ['n', 'New'],
    ['e', 'Edit'],
    ['a', 'Assign a role'],
    ['`', 'API calls of this page'],
    ['?', 'This list'],
    ['Esc', 'Close'],
  ];
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {keys.map(([key, what]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={`${key}-what`}>{what}</dd>,
        ])}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          defaultChecked={recall(KEYS_OFF) === undefined}
          onChange={(event) => remember(KEYS_OFF, event.currentTarget.checked ? undefined : 'off')}
        />
        Use single-letter keys
      </label>
    </Dialog>
  );
}

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';

export interface CodeEditorProps {
  readonly label: string;
  /** What the editor starts with, and what changes are compared with. */
  readonly original: string;
  readonly isReadOnly?: boolean | undefined;
  readonly problem?: { readonly line: number; readonly message: string } | undefined;
  readonly onChange: (text: string) => void;
}

const COLORS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--info)' },
  { tag: tags.string, color: 'var(--ok)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: tags.number, color: 'var(--team)' },
]);

const THEME = EditorView.theme({
  '&': { backgroundColor: 'var(--card)', color: 'var(--ink)', fontSize: '13px', minHeight: '320px', maxHeight: '70vh' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--card)', color: 'var(--quiet)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused': { outline: '2px solid var(--mark)', outlineOffset: '2px' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--ok-soft) !important' },
  // The marks of the lint package are images in data: URLs, which the policy of the page forbids.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
  '.cm-lint-marker-error': { content: 'none', '&::before': { content: '"●"', color: 'var(--bad)' } },
  '.cm-lint-marker': { width: 'auto', height: 'auto' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft)' },
});

/** In a shadow root its styles are adopted sheets, which the policy of the page allows. */
export function CodeEditor({ label, original, isReadOnly, problem, onChange }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      parent: root as unknown as Element,
      root,
      state: EditorState.create({
        doc: original,
        extensions: [
          lineNumbers(),
          history(),
          yaml(),
          lintGutter(),
          syntaxHighlighting(COLORS),
          unifiedMergeView({ original, mergeControls: false }),
          THEME,
          EditorState.readOnly.of(isReadOnly ?? false),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [original]);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const found: Diagnostic[] = [];
    if (problem && problem.line >= 1 && problem.line <= editor.state.doc.lines) {
      const { from, to } = editor.state.doc.line(problem.line);
      found.push({ from, to, severity: 'error', message: problem.message });
    }
    editor.dispatch(setDiagnostics(editor.state, found));
  }, [problem?.line, problem?.message]);
  return <div ref={host} class="code-editor" />;
}

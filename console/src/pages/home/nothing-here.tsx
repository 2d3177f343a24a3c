import { Page } from '../../parts/page.tsx';

export function NothingHerePage() {
  return (
    <Page title="Nothing here">
      <p>
        No page has this address. <a href="/">Go to the start page</a>, or press Ctrl K to search.
      </p>
    </Page>
  );
}

import { useLocation } from 'preact-iso';
import { orgPath, useOrgName } from '../../data/org.ts';
import { Tabs } from '../../parts/bits.tsx';

const TABS = [
  ['why', 'Why'],
  ['who', 'Who can'],
  ['matrix', 'Matrix'],
  ['map', 'Map'],
] as const;

/** The ways to look at access are one place. */
export function AccessTabs() {
  const org = useOrgName();
  const { path } = useLocation();
  const tabs = TABS.map(([name, title]) => ({ href: orgPath(org, `/access/${name}`), title }));
  return <Tabs label="Ways to look at access" tabs={tabs} current={path} />;
}

import { useLocation } from 'preact-iso';
import { orgPath, useOrgName } from '../../data/org.ts';
import { Tabs } from '../../parts/bits.tsx';

export function RoleTabs() {
  const org = useOrgName();
  const { path } = useLocation();
  const tabs = [
    { href: orgPath(org, '/roles'), title: 'Roles' },
    { href: orgPath(org, '/roles/code'), title: 'As code' },
  ];
  return <Tabs label="Ways to look at roles" tabs={tabs} current={path} />;
}

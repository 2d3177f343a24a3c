import type { ComponentType } from 'preact';

export type Load = () => Promise<ComponentType>;

/** What each page of an area is loaded from, by its address. */
export type PageTable<Path extends string> = Readonly<Record<Path, Load>>;

/** The ID of a managed application on marketplace B, split into its parts. */
export interface ApplicationId {
  /** The same for all spellings of one ID: they differ in letter case and in slashes at either end. */
  readonly key: string;
  /** As it was written, with its leading slash. */
  readonly text: string;
  readonly managedResourceGroupId: string;
  readonly resourceIdParts: ResourceIdParts;
}

export interface ResourceIdParts {
  readonly subscriptionId: string;
  readonly resourceGroupName: string;
  readonly provider: string;
  readonly resourceType: string;
  readonly resourceName: string;
}

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const GROUP = /^[\p{L}\p{N}_().-]{1,90}$/u;
const NAME = /^[\p{L}\p{N}_().-]{1,260}$/u;
const FIXED: readonly (readonly [index: number, word: string])[] = [
  [0, 'subscriptions'],
  [2, 'resourcegroups'],
  [4, 'providers'],
  [5, 'microsoft.solutions'],
  [6, 'applications'],
];

/** `/subscriptions/{guid}/resourceGroups/{rg}/providers/Microsoft.Solutions/applications/{name}`, else undefined. */
export function readApplicationId(text: string): ApplicationId | undefined {
  const path = text.replace(/^\//, '').replace(/\/$/, '');
  const parts = path.split('/');
  const [, subscriptionId = '', , resourceGroupName = '', , , , resourceName = ''] = parts;
  if (parts.length !== 8 || FIXED.some(([index, word]) => parts[index]?.toLowerCase() !== word)) return undefined;
  if (!GUID.test(subscriptionId) || !GROUP.test(resourceGroupName) || !NAME.test(resourceName)) return undefined;
  // A name of dots alone would act as `.` or `..` in any path that is built from it.
  if (/^\.+$/.test(resourceGroupName) || /^\.+$/.test(resourceName)) return undefined;
  return {
    key: path.toLowerCase(),
    text: `/${path}`,
    managedResourceGroupId: `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroupName}`,
    resourceIdParts: {
      subscriptionId,
      resourceGroupName,
      provider: 'Microsoft.Solutions',
      resourceType: 'applications',
      resourceName,
    },
  };
}

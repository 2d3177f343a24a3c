export const providerPath = (name: string) => `/admin/providers/${encodeURIComponent(name)}`;

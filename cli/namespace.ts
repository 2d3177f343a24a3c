/** For questions about clusters. */
export const NAMESPACE = {
  namespace: { about: 'of a cluster: the Kubernetes namespace that the question is about', value: 'NAME' },
} as const;

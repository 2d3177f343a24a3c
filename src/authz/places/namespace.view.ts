import Type from 'typebox';

/** For questions about clusters. */
export const NamespaceQuery = {
  namespace: Type.Optional(
    Type.String({
      description:
        'Of a cluster: the Kubernetes namespace that the question is about. Then assignments count that have this namespace.',
    }),
  ),
};

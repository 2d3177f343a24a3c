export interface DeploymentStore {
  /** Resolves when the database answers a question. */
  answers(): Promise<void>;
}

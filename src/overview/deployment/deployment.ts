/** How safe a deployment is from the loss of one account, or of its machine. */
export interface DeploymentState {
  /** Those who can sign in. */
  readonly administrators: number;
  readonly administratorsWithoutFactor: number;
  readonly lastBackupAt: Date | null;
}

export interface DeploymentStore {
  find(): Promise<DeploymentState>;
}

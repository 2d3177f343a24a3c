/** What organizations and people own: clusters, contracts, robot accounts. */
export interface NewCluster {
  readonly ownerId: bigint;
  readonly name: string;
  readonly uid: string;
  readonly displayName?: string;
  readonly provider?: string;
  readonly orchestratorVersion?: string;
  readonly nodeCount?: number;
  readonly location?: string;
  readonly phase?: string;
}

export interface NewContract {
  readonly ownerId: bigint;
  readonly uid: string;
  readonly name: string;
  readonly product: string;
  readonly endsAt: Date | null;
}

export interface NewRobot {
  readonly ownerId: bigint;
  readonly name: string;
  readonly description?: string;
}

export interface Resources {
  createCluster(cluster: NewCluster): Promise<bigint>;
  createContract(contract: NewContract): Promise<bigint>;
  createRobot(robot: NewRobot): Promise<bigint>;
}

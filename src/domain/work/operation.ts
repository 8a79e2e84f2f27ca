/** The messages between an operation's workflow and its activity. */

export type OperationKind =
  | "rotate_master"
  | "rotate_organization"
  | "reencrypt_organization"
  | "delete_organization"
  | "export_organization"
  | "import_organization";

export interface OperationInput {
  readonly operationId: string;
}

export interface OperationStep {
  readonly done: boolean;
  /** How long to wait before the next step. */
  readonly waitSeconds: number;
}

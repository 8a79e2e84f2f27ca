/** What the contract test needs of a running Holdfast. */

/** Bearer tokens by what is wrong or right with them. */
export interface Credentials {
  /** Keys of the owner, an editor and a viewer of {@link Ids.space}. */
  readonly owner: string;
  readonly editor: string;
  readonly viewer: string;
  /** The owner's key, narrowed to a space that holds none of {@link Ids}. */
  readonly scopedElsewhere: string;
  readonly revoked: string;
  readonly expired: string;
  /** The owner's and admin's access token; absent where no issuer runs. */
  readonly jwt?: string;
  /** A valid token whose subject nobody knows. */
  readonly jwtOfStranger?: string;
}

/** Things that exist in one space of the owner, by the name of the path parameter that stands for them. */
export interface Ids {
  readonly space_id: string;
  readonly document_id: string;
  readonly folder_id?: string;
  readonly agent_id: string;
  readonly organization_id: string;
  readonly user_id?: string;
  readonly pipeline_run_id?: string;
  readonly batch_id?: string;
  readonly api_key_id?: string;
}

export interface TestStack {
  /** Of the API, without `/v1`. */
  readonly url: string;
  readonly credentials: Credentials;
  readonly ids: Ids;
  close(): Promise<void>;
}

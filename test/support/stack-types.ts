/** What the contract tests need of a running Holdfast. */

/** Bearer tokens by what is wrong or right with them. */
export interface Credentials {
  /** Keys of the owner, an editor and a viewer of the space in {@link Ids}. */
  readonly owner: string;
  readonly editor: string;
  readonly viewer: string;
  /** The owner's key, narrowed to a space that holds none of {@link Ids}. */
  readonly scopedElsewhere: string;
  readonly revoked: string;
  readonly expired: string;
  /** The access token of the owner, who is an admin of the organization. */
  readonly jwt: string;
  /** A valid token whose subject nobody knows. */
  readonly jwtOfStranger: string;
}

/** Things that exist in one space of the owner, by the name of the path parameter that stands for them. */
type Ids = Readonly<Record<string, string>>;

export interface TestStack {
  /** Of the API, without `/v1`. */
  readonly url: string;
  readonly credentials: Credentials;
  readonly ids: Ids;
  close(): Promise<void>;
}

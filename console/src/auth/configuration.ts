/**
 * The console's static, public configuration, beside its files: whose service it is and who signs people in.
 */

export interface Configuration {
  /** The address of the service; empty: the origin of the page. */
  readonly api: string;
  /** Null: nobody can sign in. */
  readonly issuer: string | null;
  readonly client_id: string | null;
  readonly scope: string;
  /** What the issuer needs besides to give tokens for this service, such as `audience` or `resource`. */
  readonly authorization_parameters: Readonly<Record<string, string>>;
  readonly temporal_ui: string | null;
  readonly temporal_namespace: string | null;
  /** Pages of metrics, for operators. */
  readonly metrics: readonly string[];
}

/** @throws Error if it is not there, or no configuration. */
export async function loadConfiguration(): Promise<Configuration> {
  const response = await fetch(`${import.meta.env.BASE_URL}config.json`, { cache: "no-cache" });
  if (!response.ok) throw new Error(`config.json: ${response.status}`);
  return (await response.json()) as Configuration;
}

export const apiAddress = ({ api }: Configuration): string => (api === "" ? location.origin : api);

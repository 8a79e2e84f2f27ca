/**
 * What the addresses of the screens hold after `?`, so that a place can be sent to somebody, and a reload
 * shows it again. Values that no screen understands are left out.
 */
type Query = Readonly<Record<string, unknown>>;

/** The router reads numbers out of addresses as numbers, also where a text is meant. */
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined;

/** The router reads JSON out of addresses, also where its text is meant. */
const jsonOf = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : textOf(value);

const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;

/** Keeps the fields that are there, so that addresses stay short. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/**
 * The list of a space's documents. `folder` is an id or `top`: what is in none. `order` is a field of
 * `order_by`, with `-` for descending. `panel` is `settings` where those of the space are open.
 */
export const spaceAddress = (query: Query) =>
  present({
    folder: textOf(query["folder"]),
    status: textOf(query["status"]),
    type: textOf(query["type"]),
    q: textOf(query["q"]),
    order: textOf(query["order"]),
    panel: textOf(query["panel"]),
  });

/** `tab`: `pages`, `versions`, `runs`, `integrity` or `metadata`. `receipt` is the receipt of a citation. */
export const documentAddress = (query: Query) =>
  present({
    tab: textOf(query["tab"]),
    page: numberOf(query["page"]),
    chunk: textOf(query["chunk"]),
    version: numberOf(query["version"]),
    receipt: textOf(query["receipt"]),
  });

/** `settings` and `other` are JSON: the two sides of the lab. */
export const searchAddress = (query: Query) =>
  present({
    q: textOf(query["q"]),
    space: textOf(query["space"]),
    settings: jsonOf(query["settings"]),
    other: jsonOf(query["other"]),
  });

/** The agent that a new conversation is with. */
export const chatAddress = (query: Query) => present({ agent: textOf(query["agent"]) });

/** `space`: where a new agent is made. */
export const agentAddress = (query: Query) =>
  present({ tab: textOf(query["tab"]), space: textOf(query["space"]) });

/** `whose`: `everyone` for admins; `user`: only that member's. */
export const keysAddress = (query: Query) =>
  present({ whose: textOf(query["whose"]), user: textOf(query["user"]), page: numberOf(query["page"]) });

/** The filters of the audit log, and the webhook that is shown. */
export const organizationAddress = (query: Query) =>
  present({
    action: textOf(query["action"]),
    user: textOf(query["user"]),
    from: textOf(query["from"]),
    to: textOf(query["to"]),
    webhook: textOf(query["webhook"]),
    page: numberOf(query["page"]),
    resource: textOf(query["resource"]),
    outcome: textOf(query["outcome"]),
    by: textOf(query["by"]),
  });

/**
 * A receiver of webhooks with nothing but Node (24 or newer): it verifies, keeps the message, answers at
 * once, and works on what it kept afterwards. `WEBHOOK_SECRET=whsec_… node receiver.ts`
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type IncomingHttpHeaders, type IncomingMessage, type Server, createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";

const TOLERANCE_SECONDS = 300;
/** No event is nearly as large. */
const MAX_BODY_BYTES = 65_536;
const BODY_MS = 10_000;

export interface HoldfastEvent {
  readonly id: string;
  readonly type: string;
  readonly occurred_at: string;
  readonly resource: { readonly type: string; readonly id: string | null };
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

interface Receiver {
  /** `whsec_…`; while it is rolled, messages are signed with the old one too. */
  readonly secret: string;
  /** A file; what is in it was answered with 204 and is not lost if the process dies. */
  readonly inbox: DatabaseSync;
  /** Throwing leaves the event in the inbox, and it is tried again later. */
  readonly handle: (event: HoldfastEvent) => void | Promise<void>;
}

export function startReceiver({ secret, inbox, handle }: Receiver, port: number): Server {
  inbox.exec(`create table if not exists message (
    id text primary key,
    body text not null,
    is_handled integer not null default 0
  )`);
  inbox.exec(`create table if not exists latest (
    resource_id text primary key,
    occurred_at text not null
  )`);
  const keep = inbox.prepare("insert into message (id, body) values (?, ?) on conflict do nothing");
  const work = worker(inbox, handle);
  const server = createServer({ requestTimeout: BODY_MS, headersTimeout: BODY_MS }, (request, response) => {
    void receive(request).then(
      (body) => {
        if (body === undefined || !isSigned(secret, request.headers, body)) {
          response.writeHead(400, { connection: "close" }).end();
          return;
        }
        // A message that comes again has the same id: it is kept once, and answered as the first time.
        keep.run(String(request.headers["webhook-id"]), body.toString());
        response.writeHead(204).end();
        work();
      },
      () => response.destroy(),
    );
  });
  work();
  return server.listen(port);
}

/** @returns undefined if it is too large. */
async function receive(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** As https://www.standardwebhooks.com says: the HMAC of the id, the time and the body. */
function isSigned(secret: string, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const id = String(headers["webhook-id"] ?? "");
  const timestamp = String(headers["webhook-timestamp"] ?? "");
  const isRecent = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= TOLERANCE_SECONDS;
  if (id === "" || timestamp === "" || !isRecent) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return String(headers["webhook-signature"] ?? "")
    .split(" ")
    .filter((versioned) => versioned.startsWith("v1,"))
    .map((versioned) => Buffer.from(versioned.slice(3), "base64"))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
}

/** Works on the inbox, one message after the other; calls while it works make it look again. */
function worker(inbox: DatabaseSync, handle: Receiver["handle"]): () => void {
  const RETRY_MS = 1_000;
  const next = inbox.prepare("select id, body from message where is_handled = 0 order by rowid limit 1");
  const done = inbox.prepare("update message set is_handled = 1 where id = ?");
  let isWorking = false;
  const work = async (): Promise<void> => {
    isWorking = true;
    try {
      for (let row = next.get(); row !== undefined; row = next.get()) {
        const event = JSON.parse(String(row["body"])) as HoldfastEvent;
        if (isNews(inbox, event)) await handle(event);
        done.run(String(row["id"]));
      }
    } catch {
      setTimeout(begin, RETRY_MS);
    } finally {
      isWorking = false;
    }
  };
  const begin = (): void => {
    if (!isWorking) void work();
  };
  return begin;
}

/**
 * A delivery that failed at first comes later than others of its resource. Whoever keeps the state of a
 * resource passes over what is older than the state that it has.
 */
function isNews(inbox: DatabaseSync, { resource, occurred_at: occurredAt }: HoldfastEvent): boolean {
  if (resource.id === null) return true;
  const { changes } = inbox
    .prepare(
      `insert into latest (resource_id, occurred_at)
       values (?, ?)
       on conflict (resource_id) do update
       set occurred_at = excluded.occurred_at
       where excluded.occurred_at >= latest.occurred_at`,
    )
    .run(resource.id, occurredAt);
  return Number(changes) > 0;
}

if (import.meta.main) {
  // oxlint-disable-next-line node/no-process-env -- an example has no settings module
  const { WEBHOOK_SECRET: secret, PORT = "8095", INBOX = "inbox.sqlite" } = process.env;
  if (secret === undefined) throw new Error("Set WEBHOOK_SECRET to the secret of the webhook.");
  const handle = ({ type, resource }: HoldfastEvent): void =>
    void process.stdout.write(`${type} ${resource.id}\n`);
  startReceiver({ secret, inbox: new DatabaseSync(INBOX), handle }, Number(PORT));
}

/** Receives deliveries as a customer's server does, and can die in the midst of them. */
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";

export interface Receiver {
  readonly url: string;
  /** How often each event came, by its `webhook-id`. */
  readonly seen: ReadonlyMap<string, number>;
  /** What was wrong with a delivery itself. */
  readonly faults: readonly string[];
  /** The secret that deliveries are signed with. */
  trust(secret: string): void;
  /** Cuts every connection, also those whose delivery was read and not answered, and listens no more. */
  die(): Promise<void>;
  comeBack(): Promise<void>;
}

/** Long enough that a fault meets deliveries that were read and are not answered. */
const ANSWER_MS = 5;

export async function startReceiver(): Promise<Receiver> {
  const seen = new Map<string, number>();
  const bodies = new Map<string, string>();
  const faults: string[] = [];
  let key = Buffer.alloc(0);

  const note = (request: IncomingMessage, body: Buffer): void => {
    const {
      "webhook-id": id = "",
      "webhook-timestamp": at,
      "webhook-signature": signature,
    } = request.headers;
    const name = String(id);
    const digest = createHash("sha256").update(body).digest("hex");
    const expected = createHmac("sha256", key)
      .update(`${name}.${String(at)}.`)
      .update(body)
      .digest("base64");
    if (!String(signature).split(" ").includes(`v1,${expected}`)) faults.push(`${name} is not signed`);
    if ((JSON.parse(body.toString()) as { id: unknown }).id !== name) faults.push(`${name} is another event`);
    if ((bodies.get(name) ?? digest) !== digest) faults.push(`${name} came with another body`);
    bodies.set(name, digest);
    seen.set(name, (seen.get(name) ?? 0) + 1);
  };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    note(request, await buffer(request));
    setTimeout(() => response.writeHead(204).end(), ANSWER_MS);
  };
  const open = async (port: number): Promise<Server> => {
    const server = createServer((request, response) => {
      receive(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return server;
  };

  let server = await open(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/events`,
    seen,
    faults,
    trust(secret) {
      key = Buffer.from(secret.replace("whsec_", ""), "base64");
    },
    async die() {
      if (!server.listening) return;
      const closed = promisify(server.close.bind(server))();
      server.closeAllConnections();
      await closed;
    },
    async comeBack() {
      server = await open(port);
    },
  };
}

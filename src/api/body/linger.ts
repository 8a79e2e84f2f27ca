/** Goes on reading a refused upload for a while, so that its client reads the answer. */
import type { IncomingMessage } from "node:http";

/** A client that is still sending misses its answer if the connection is cut at once. */
const LINGER_BYTES = 512 * 1024 * 1024;
const LINGER_MS = 2_000;

/** Reads and drops the rest of the request for at most two seconds or 512 MiB, then cuts the connection. */
export function linger(req: IncomingMessage): void {
  if (req.complete || req.destroyed) {
    req.resume();
    return;
  }
  let left = LINGER_BYTES;
  const cut = (): void => {
    req.socket.destroy();
  };
  const timer = setTimeout(cut, LINGER_MS).unref();
  req
    .on("error", () => {})
    .once("end", () => clearTimeout(timer))
    .once("close", () => clearTimeout(timer));
  req.on("data", (piece: Buffer) => {
    left -= piece.byteLength;
    if (left < 0) cut();
  });
  req.resume();
}

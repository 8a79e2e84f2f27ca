/** Reads an answer from outside as a whole, but never more of it than a bound. */

/** The same response; reading its body fails with `fault` after `maxBytes`. */
export function boundedBody(response: Response, maxBytes: number, fault: () => Error): Response {
  if (response.body === null) return response;
  let left = maxBytes;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      left -= piece.byteLength;
      if (left >= 0) controller.enqueue(piece);
      else controller.error(fault());
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bound), { status, statusText, headers });
}

/** At most the first `maxBytes` of a text; the rest is not read, and the connection is given up. */
export async function firstText(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    parts.push(piece);
    bytes += piece.byteLength;
    if (bytes >= maxBytes) break;
  }
  return new TextDecoder().decode(Buffer.concat(parts).subarray(0, maxBytes));
}

/** Reads server-sent events from an answer, as fast as they are taken. */
import { type Frame, createFrameParser } from "./server-sent-events.ts";

/** Three pings: a connection that brings nothing for so long is dead, whatever the system says. */
const SILENCE_MS = 45_000;

/**
 * Gives frames until the stream ends, breaks or is silent for too long: another one can go on after what was
 * read. Nothing is read while the caller has not taken what there is, so a
 * slow caller slows down the sender and not the memory of this process.
 */
export async function* readStream(
  body: ReadableStream<Uint8Array>,
  { signal, silenceMs = SILENCE_MS }: { signal?: AbortSignal | undefined; silenceMs?: number } = {},
): AsyncGenerator<Frame, void, undefined> {
  const parse = createFrameParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      signal?.throwIfAborted();
      const chunk = await nextChunk(reader, silenceMs);
      signal?.throwIfAborted();
      if (chunk === undefined) return;
      yield* parse(decoder.decode(chunk, { stream: true }));
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

/** @returns undefined at the end, however it came about. */
async function nextChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  silenceMs: number,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<{ value?: undefined }>((resolve) => {
    timer = setTimeout(() => resolve({}), silenceMs);
  });
  try {
    const { value } = await Promise.race([reader.read(), silence]);
    return value;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

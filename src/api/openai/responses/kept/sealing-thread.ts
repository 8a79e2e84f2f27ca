/** A thread that seals and opens what would keep the event loop too long, one after the other. */
import type { KeyObject } from "node:crypto";
import { parentPort } from "node:worker_threads";
import { DomainError, type ErrorReason } from "../../../../domain/errors.ts";
import { openBytes, sealBytes } from "../../../../storage/keys/keyring.ts";

interface Job {
  readonly key: KeyObject;
  readonly place: Uint8Array;
}

export interface SealJob extends Job {
  readonly value: unknown;
}

export interface OpenJob extends Job {
  readonly sealed: Uint8Array;
}

export type SealingAnswer =
  | { readonly sealed: Uint8Array; readonly characters: number }
  | { readonly value: unknown }
  | { readonly reason: ErrorReason; readonly message: string };

const port = parentPort;
if (port === null) throw new Error("sealing-thread.ts runs as a worker thread only.");

port.on("message", (job: SealJob | OpenJob) => port.postMessage(answerTo(job)));

function answerTo(job: SealJob | OpenJob): SealingAnswer {
  const { key, place } = job;
  try {
    if ("sealed" in job)
      return { value: JSON.parse(openBytes(key, job.sealed, place).toString()) as unknown };
    const text = JSON.stringify(job.value);
    return { sealed: sealBytes(key, Buffer.from(text), place), characters: text.length };
  } catch (error) {
    // Any other error ends the thread, and reaches who waits for the answer.
    if (!(error instanceof DomainError)) throw error;
    return { reason: error.reason, message: error.message };
  }
}

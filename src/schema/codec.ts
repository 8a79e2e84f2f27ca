/**
 * The contract of the codec endpoint, as Temporal's Web UI and command line use it: payloads in JSON, bytes
 * in base64.
 * @see https://docs.temporal.io/codec-server
 */
import { z } from "zod";
import { record } from "./requests/record.ts";

const MAX_PAYLOADS = 10_000;
const MAX_METADATA = 64;
/** As many characters as a body may have bytes. */
const Base64 = z.string().max(4 * 1_024 * 1_024);
const CodedPayload = z.object({ metadata: record(Base64, MAX_METADATA).optional(), data: Base64.nullish() });

export const CodedPayloads = z.object({ payloads: z.array(CodedPayload).max(MAX_PAYLOADS) });

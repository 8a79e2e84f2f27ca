/** Contract of the codec endpoint, as Temporal's Web UI and command line speak it: payloads in JSON, their bytes in base64. */
import { z } from "zod";

const MAX_PAYLOADS = 10_000;
const Base64 = z.string();
const CodedPayload = z.object({ metadata: z.record(z.string(), Base64).optional(), data: Base64.nullish() });

export const CodedPayloads = z.object({ payloads: z.array(CodedPayload).max(MAX_PAYLOADS) });

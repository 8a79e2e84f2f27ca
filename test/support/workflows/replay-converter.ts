/**
 * Reads recorded histories, which are stored decrypted, as a worker reads those that version 0.3.0 has
 * sealed.
 */
import type { DataConverter } from "@temporalio/worker";
import { opened } from "../../../src/domain/payloads/places.ts";
import { FAILURE_CONVERTER_PATH } from "../../../src/temporal/workflow-bundle.ts";

export const replayConverter: DataConverter = {
  failureConverterPath: FAILURE_CONVERTER_PATH,
  payloadCodecs: [
    {
      encode: async (payloads) => payloads,
      decode: async (payloads) => payloads.map((payload) => opened(payload, { form: "old", until: null })),
    },
  ],
};

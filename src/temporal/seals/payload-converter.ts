/** The payload converter outside of the sandbox: passes places to the codec, and findings to users. */
import { type Payload, type PayloadConverter, defaultPayloadConverter } from "@temporalio/common";
import { openedOf, isOpened, placed } from "../../domain/payloads/places.ts";
import { openedValue, placeOfValue, type PlacedValue } from "../../domain/payloads/values.ts";

/** Temporal loads it by its path and this name. */
export const payloadConverter: PayloadConverter = {
  toPayload<T>(value: T): Payload {
    const place = placeOfValue(value);
    return place === undefined
      ? defaultPayloadConverter.toPayload(value)
      : placed(defaultPayloadConverter.toPayload((value as PlacedValue).value), place);
  },
  fromPayload<T>(payload: Payload): T {
    const value = defaultPayloadConverter.fromPayload<T>(payload);
    // The codec of clients adds nothing: what a client reads starts no work.
    return isOpened(payload) ? (openedValue(value, openedOf(payload)) as T) : value;
  },
};

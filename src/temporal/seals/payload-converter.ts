/** Temporal's payload converter outside of the sandbox: hands on what a value is to be sealed for, and what the codec found of a payload. */
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
    // A client's codec leaves no note: what a client reads starts no work.
    return isOpened(payload) ? (openedValue(value, openedOf(payload)) as T) : value;
  },
};

/** The answer where a version is asked for that is not kept. */
import { ErrorBody } from "../../../schema/error.ts";

export const NOT_KEPT = {
  410: { schema: ErrorBody, description: "That version is no longer kept" },
};

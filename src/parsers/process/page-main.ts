/** The entry of a process that shows pages. It loads no parser. */

import { DomainError } from "../../domain/errors.ts";
import { pagesOf, warmUpPages } from "../pages/index.ts";
import { serveParsers } from "./child-serve.ts";

await serveParsers({
  parsers() {
    throw new DomainError("internal", "This process only shows pages.");
  },
  pages: pagesOf,
  warmUp: warmUpPages,
});

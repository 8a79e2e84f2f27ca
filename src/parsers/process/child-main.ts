/** The entry of a parser process. */

import { serveParsers } from "./child-serve.ts";
import { parserFor, warmUpParsers } from "../index.ts";

await serveParsers({ parsers: parserFor, warmUp: warmUpParsers });

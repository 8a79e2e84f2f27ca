/** What responses are made of. */
import type { Database } from "../../../db/pool.ts";
import type { Toolbox } from "../../../agents/tools/index.ts";
import type { Log } from "../../../process/log.ts";
import type { TemporaryFolder } from "../../../process/temporary-folder.ts";
import type { SearchDeps } from "../../../search/hybrid.ts";
import type { Storage } from "../../../storage/storage.ts";
import type { ResponseQuotas } from "../../../db/responses/quota.ts";
import type { Sealing } from "./kept/sealing.ts";
import type { InputFileSeats } from "../../files/file-seats.ts";
import type { ChatHost } from "../../turns/chat-host.ts";

export interface ResponsesDeps extends SearchDeps {
  readonly db: Database;
  readonly sealing: Sealing;
  readonly storage: Storage;
  readonly log: Log;
  readonly toolbox: Toolbox;
  readonly chat: ChatHost;
  readonly keptHours: number;
  /** How much of them is kept. */
  readonly quotas: ResponseQuotas;
  /** How many tokens the chat model takes, question and answer together. */
  readonly contextTokens: number;
  /** Where files that come with a request are read. */
  readonly temporary: TemporaryFolder;
  readonly seats: InputFileSeats;
}

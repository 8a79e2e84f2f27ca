/** What a request brings in besides its own text: files, and items of stored responses. */
import type { NoteOpened } from "../../../domain/tenancy/opened-content.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ResponsesDeps } from "./deps.ts";
import type { FileReader, StoredText } from "./files.ts";
import { type ItemReaders, type KeptItem, refuse } from "./input.ts";
import { mostTextCharacters } from "./kept/lengths.ts";
import type { ResponseStore } from "./store.ts";
import { type FindStoredItem, type StoredItem, findStoredItems } from "./stored-items.ts";

interface ReadingParts {
  readonly deps: ResponsesDeps;
  readonly store: ResponseStore;
  readonly files: FileReader;
}

interface ReadingFor {
  readonly principal: Principal;
  /** Aborted if the client goes away: then nothing more is read. */
  readonly signal: AbortSignal;
  /** Looks the caller up again. */
  readonly lookUp: () => Promise<Principal>;
  /** What {@link InputReading.reference} may be asked for. */
  readonly referredIds: readonly string[];
  readonly opened: NoteOpened;
  /** What the request brings in already: the text of the responses that it goes on from. */
  readonly characters: number;
}

/** Reads each file and each stored response once, however often the request names it. */
export class InputReading implements ItemReaders {
  /** What the model is shown by it: only who reaches these may read the response. */
  readonly documentIds = new Set<string>();
  readonly #parts: ReadingParts;
  readonly #for: ReadingFor;
  readonly #files = new Map<string, StoredText>();
  #find: FindStoredItem | undefined;
  #characters: number;

  constructor(parts: ReadingParts, readingFor: ReadingFor) {
    this.#parts = parts;
    this.#for = readingFor;
    this.#characters = readingFor.characters;
  }

  async fileData(data: string, filename: string, param: string): Promise<string> {
    const text = await this.#parts.files.parsedText(this.#askOf(param), data, filename);
    this.#count(text.length, param);
    return text;
  }

  async fileId(fileId: string, param: string): Promise<{ filename: string; text: string }> {
    const read = this.#files.get(fileId);
    const file = read ?? (await this.#parts.files.textOfStored(this.#askOf(param), fileId));
    if (read === undefined) this.#for.opened(file.content);
    this.#files.set(fileId, file);
    const { filename, text, content } = file;
    this.#count(text.length, param);
    if (content.type === "document") this.documentIds.add(content.id);
    return { filename, text };
  }

  async reference(id: string, param: string): Promise<KeptItem | undefined> {
    this.#for.signal.throwIfAborted();
    const found = await this.#stored(id);
    if (found === undefined) return undefined;
    this.#count(found.characters, param);
    const item = await found.open();
    if (item !== undefined) for (const documentId of found.documentIds) this.documentIds.add(documentId);
    return item;
  }

  async #stored(id: string): Promise<StoredItem | undefined> {
    const { deps, store } = this.#parts;
    const { principal, referredIds } = this.#for;
    this.#find ??= await findStoredItems(deps, store, principal, referredIds);
    return this.#find(id);
  }

  #askOf(param: string) {
    const { principal, signal, lookUp } = this.#for;
    signal.throwIfAborted();
    return { principal, signal, lookUp, param };
  }

  /** Each time that the request names it: so often the model reads it, and so often it is kept. */
  #count(characters: number, param: string): void {
    const most = mostTextCharacters(this.#parts.deps.contextTokens);
    this.#characters += characters;
    if (this.#characters > most)
      throw refuse(
        param,
        `The files and stored items of a request have at most ${most} characters together.`,
      );
  }
}

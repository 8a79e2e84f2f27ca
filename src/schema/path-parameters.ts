/** What the names in paths stand for: the same in every path. */
import { z } from "zod";
import { PageNumber } from "./documents/pages.ts";
import { PublishedAgain } from "./documents/run.ts";
import { OwnOrganizationId } from "./fields.ts";
import {
  AgentId,
  ApiKeyId,
  BatchId,
  DeliveryId,
  DocumentId,
  FolderId,
  RunId,
  SpaceId,
  UserId,
  WebhookId,
} from "./ids.ts";
import { FileBatchIdInput, FileIdInput, ResponseIdInput, VectorStoreIdInput } from "./openai/ids.ts";
import { ReceiptKeyId } from "./receipts.ts";

const PARAMETERS = {
  agent_id: AgentId,
  api_key_id: ApiKeyId,
  batch_id: BatchId,
  delivery_id: DeliveryId,
  document_id: DocumentId,
  file_batch_id: FileBatchIdInput,
  file_id: FileIdInput,
  folder_id: FolderId,
  kid: ReceiptKeyId,
  organization_id: OwnOrganizationId,
  page_number: PageNumber.meta({ description: "Which page, from 1", example: 1 }),
  pipeline_run_id: RunId,
  response_id: ResponseIdInput,
  space_id: SpaceId,
  user_id: UserId,
  vector_store_id: VectorStoreIdInput,
  version: PublishedAgain,
  webhook_id: WebhookId,
} as const;

type Parameters = typeof PARAMETERS;
type NamesIn<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never;

/** The schema of the parameters in `Path`, such as `{ document_id: DocumentId }` for `/data/:document_id`. */
export type PathParameters<Path extends string> = z.ZodObject<{
  [Name in NamesIn<Path> & keyof Parameters]: Parameters[Name];
}>;

/** Returns the schema of {@link PathParameters}; undefined if the path has none. */
export function pathParameters(path: string): z.ZodObject | undefined {
  const names = [...path.matchAll(/\/:(\w+)/g)].map(([, name]) => name!);
  if (names.length === 0) return undefined;
  return z.object(
    Object.fromEntries(
      names.map((name) => {
        if (!Object.hasOwn(PARAMETERS, name)) throw new Error(`nothing says what :${name} of ${path} is`);
        return [name, PARAMETERS[name as keyof Parameters]];
      }),
    ),
  );
}

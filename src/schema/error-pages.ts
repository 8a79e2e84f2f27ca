/** What the guide says of each error code: what caused it, and the way out. Its pages are at /docs/errors. */
import type { ErrorReason } from "../domain/errors.ts";

interface ErrorPage {
  readonly cause: string;
  readonly wayOut: string;
}

const page = (cause: string, wayOut: string): ErrorPage => ({ cause, wayOut });

const OUT_OF_REACH =
  "It does not exist, was deleted, or is out of your reach; an answer never says which of these it is.";
const SEE_THE_LIST = (call: string): string =>
  `${call} lists what you reach. A key reaches its own spaces only.`;
const WORK_GOES_ON =
  "Nothing that was accepted is lost: work in the background waits and goes on by itself. Send a request that " +
  "failed again after `Retry-After`.";
const SEND_AGAIN = "Send the request again after `Retry-After`.";
const SEND_ANOTHER_FILE = "The document keeps the version before, if it has one.";

export const ERROR_PAGES: Readonly<Record<ErrorReason, ErrorPage>> = {
  // A request that cannot be served as it is.
  bad_request: page(
    "The request is well formed, but does not fit what is there; the message says what is in its way.",
    "Do what the message says. The same request again gives the same answer.",
  ),
  malformed_body: page(
    "The body is not in UTF-8, arrived too slowly, has JSON that is too deep or holds too many values, is no " +
      "multipart form, or has too many fields. JSON with a mistake in it is `invalid`.",
    "Send `application/json` in UTF-8, or a form whose header, with its boundary, your HTTP library makes.",
  ),
  malformed_request: page(
    "What was sent is not HTTP/1.1.",
    "Look for a proxy that changes requests, or for HTTPS that was sent to a port of HTTP.",
  ),
  body_too_large: page(
    "The file, a field or the JSON body is larger than this instance takes.",
    "Send less at once. The operator sets the size of files by `MAX_UPLOAD_BYTES`.",
  ),
  invalid: page(
    "A field of the path, the query, a header or the body has a value that it cannot have, or is missing. " +
      "`detail` lists all such fields; `param` is the first. In JSON with a mistake `param` is its place, as in " +
      "`[1]`. “Input should be a valid dictionary” of a body that is right: its `Content-Type` is not JSON's.",
    'Correct the fields. Nothing was changed. With curl, `-d` needs `-H "Content-Type: application/json"`.',
  ),
  already_exists: page(
    "Something else has this name, path or e-mail address already.",
    "Choose another one, or change what has it.",
  ),
  already_ended: page(
    "The run or batch has ended.",
    "Nothing is left to do; start a new one if you need it.",
  ),
  folder_cycle: page("A folder would be moved below itself.", "Move it somewhere else."),
  folder_not_empty: page("The folder has files or folders.", "Delete or move them first."),
  key_not_rollable: page(
    "A key that is revoked, or has expired, gets no new text as it is.",
    "Give an expired key a new `expires_at` as you roll it; make a new key in place of a revoked one.",
  ),
  last_admin: page(
    "It would leave the organization without an administrator.",
    "Make somebody else an administrator first.",
  ),
  last_owner: page("It would leave the space without an owner.", "Make somebody else an owner first."),
  limit_reached: page(
    "There are as many of these as one user, organization or webhook may have; the message has the number.",
    "Delete or revoke what is not needed any more.",
  ),
  name_reserved: page("The name is kept for the users' own spaces.", "Choose another name."),
  private_space: page(
    "A private space belongs to one user: it has no other members, and is not deleted by itself.",
    "Use a shared space.",
  ),
  version_not_restorable: page(
    "The version is the published one, was never published, or its text is not kept any more.",
    "Upload the file again, or reprocess the document.",
  ),
  webhook_not_active: page(
    "Nothing is delivered to the webhook now, or its maker has lost the role that it needs.",
    "Set its `status` to `active`; after a loss of rights its maker needs the role again.",
  ),
  wrong_space: page("The folder belongs to another space.", "Name a folder of the same space."),
  context_length_exceeded: page(
    "The last turn of the conversation is longer than the model's context, even without all earlier turns.",
    "Send a shorter message, or give the agent a model with a longer context.",
  ),
  storage_quota_exceeded: page(
    "The file does not fit the organization's storage quota.",
    "Delete documents (their bytes count until they are erased), or ask your administrator for more.",
  ),

  // Who asks.
  unauthenticated: page(
    "The request has no valid credentials.",
    "Send `Authorization: Bearer` with an API key or an access token.",
  ),
  authentication_required: page(
    "The header `Authorization` is missing, or is not of the form `Bearer …`.",
    "Send `Authorization: Bearer` and your API key.",
  ),
  invalid_api_key: page(
    "No key has this text, or the key may not be used from your address. Every key begins with `sk-`.",
    "Copy the key again, whole. Its text is shown once, when it is made or rolled; make a new one if it is lost.",
  ),
  key_expired: page(
    "The key's `expires_at` is over, or it was rolled and the time that both texts work is over.",
    "Use the new text, or roll the key with a new `expires_at`.",
  ),
  key_revoked: page("The key was revoked.", "Make a new one; a revoked key never works again."),
  invalid_token: page(
    "The access token has expired, is not of the identity provider that this instance trusts, or belongs to " +
      "nobody here.",
    "Get a new token. If a new one is refused too, ask the operator for `OIDC_ISSUER` and `OIDC_AUDIENCE`.",
  ),
  login_required: page(
    "This endpoint takes access tokens of people alone, no API keys.",
    "Send an access token of the identity provider; [Keys](/keys) says how to get one.",
  ),
  permission_denied: page(
    "You reach the resource, and your role does not allow this; the message names the right.",
    "Ask an owner of the space, or an administrator of the organization, for the role.",
  ),
  key_out_of_scope: page(
    "The key was made for less than this: it lacks the capability.",
    "Make a key that has it (`capabilities`).",
  ),
  key_owner_left: page(
    "The user whose key this is has left the organization.",
    "Use a key of somebody who is a member.",
  ),
  not_an_operator: page(
    "The endpoint is for operators of the instance.",
    "Use a token whose claim `roles` holds `operators`.",
  ),
  organization_deleted: page("The organization was deleted.", "There is no way back but a backup."),
  wrong_organization: page(
    "`X-Organization-Id` names an organization that your credentials do not belong to.",
    "Leave the header out, or name your own organization.",
  ),

  // What the path or the body names.
  not_found: page(OUT_OF_REACH, "Check the id."),
  route_not_found: page(
    "No endpoint has this path.",
    "Check the address: the API is below `/v1`, and clients of OpenAI's form need `/v1` in their base URL.",
  ),
  method_not_allowed: page(
    "The path exists, with other methods.",
    "The header `Allow` of the answer lists them.",
  ),
  agent_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`POST /v1/agents/search`")),
  answer_not_found: page(
    "A repeated request asked for an answer that rests on a document which you do not reach any more.",
    "Ask again, with a new `Idempotency-Key`.",
  ),
  api_key_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/me/api-keys`")),
  batch_not_found: page(OUT_OF_REACH, "Check the id, which the batch's `202` had."),
  chunk_not_found: page(
    "The document has no such chunk, in no version that is kept; each reprocessing gives new ids.",
    "`GET /v1/data/{document_id}/chunks` lists those of the published version.",
  ),
  delivery_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/webhooks/{webhook_id}/deliveries`")),
  document_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`POST /v1/data/search`")),
  event_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/events`")),
  file_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/spaces/{space_id}/data/files`")),
  folder_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/folders/space/{space_id}`")),
  model_not_found: page(
    "`model` names no agent that you may chat with. Models here are agents: their ids, not their names.",
    SEE_THE_LIST("`GET /v1/models`"),
  ),
  organization_not_found: page(OUT_OF_REACH, "`GET /v1/me` says which organization you belong to."),
  page_not_found: page(
    "The document has fewer pages, or none.",
    "`GET /v1/data/{document_id}/pages` lists them.",
  ),
  run_not_found: page(OUT_OF_REACH, "`processing_state` of a document names its run."),
  space_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`POST /v1/spaces/search`")),
  previous_response_not_found: page(
    "The response that this one goes on from was deleted, is no longer kept, or is another key's.",
    "Send the conversation itself as `input`. Responses are kept as long as the operator says, and only with `store`.",
  ),
  response_not_found: page(
    "It was deleted, is no longer kept, was made without `store`, or is another key's.",
    "A response is read with the key that made it. Ask again if it is gone.",
  ),
  user_not_found: page(OUT_OF_REACH, "Check the id."),
  vector_store_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/vector_stores`")),
  version_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/data/{document_id}/versions`")),
  webhook_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/webhooks`")),

  // The request and the state do not meet.
  request_timeout: page("The request did not arrive in time.", "Send it again, at once and whole."),
  conflict: page("Somebody else changed the same thing at the same time.", "Read it again, then decide."),
  turn_lost: page(
    "The process that answered this chat ended before the answer did.",
    "Ask again. A repeat under the same `Idempotency-Key` gets this answer again; use a new one.",
  ),
  cursor_expired: page(
    "What comes after the cursor is not kept any more (`EVENT_RETENTION_DAYS`).",
    "Go on from `oldest`, and read the present state for what happened before it.",
  ),
  version_not_kept: page(
    "The file of this version is not kept any more: only those of the published version, of the one before it " +
      "and of the latest run are.",
    "Leave `version` out to see the published one. A citation's quote and offsets still say what was cited.",
  ),
  precondition_failed: page(
    "The resource has changed since you read the `ETag` that you sent in `If-Match`.",
    "Read it again, apply your change to that, and send the new `ETag`.",
  ),
  uri_too_long: page("The address is longer than 8,192 characters.", "Send long values in the body."),
  headers_too_large: page("The headers are larger than 32 KiB.", "Send fewer or shorter ones."),
  range_not_satisfiable: page(
    "The `Range` starts behind the end of the file.",
    "`Content-Range` of the answer has the file's size.",
  ),

  // Too much at once.
  rate_limited: page(
    "A budget of requests or chat turns a minute is used up: that of the key, the user, the organization, or, " +
      "without valid credentials, of the address. `RateLimit-Policy` names it.",
    "Wait for `Retry-After` seconds. Wait for documents with `?wait=`, events or `POST /v1/data/status` " +
      "instead of asking again and again.",
  ),
  too_many_open: page(
    "As many streams, waits, files or pages are open or in the making as one key, user, organization or process may have.",
    "End one, or wait for `Retry-After` seconds.",
  ),
  response_quota_exceeded: page(
    "The responses that are kept for the user or the organization have as many bytes as they may have.",
    "Delete responses, wait until some expire, or send `store: false`: nothing is kept then.",
  ),
  token_budget_exceeded: page(
    "The tokens that the organization, user or key may use in this month are used up.",
    "Wait until the month is over (`Retry-After`), or ask your administrator for more.",
  ),
  overloaded: page("More is under way than this process takes.", SEND_AGAIN),
  request_under_way: page(
    "Another request with the same `Idempotency-Key` has not ended yet.",
    "Send it again after `Retry-After`: then you get the first one's answer.",
  ),
  shutting_down: page("This process ends, and others take its place.", SEND_AGAIN),

  // A document whose processing ends without a new version.
  empty_file: page("The file has no bytes.", `Upload the right file. ${SEND_ANOTHER_FILE}`),
  unsupported_file_type: page(
    "No parser reads files of this kind.",
    `Convert it, for example to PDF, .docx or text. ${SEND_ANOTHER_FILE}`,
  ),
  encrypted: page("The file is protected by a password.", `Upload it without one. ${SEND_ANOTHER_FILE}`),
  corrupt: page("The file is damaged.", `Open it in its program and save it again. ${SEND_ANOTHER_FILE}`),
  too_large: page(
    "The file, or what it unpacks to, is larger than a parser may read.",
    `Divide it. ${SEND_ANOTHER_FILE}`,
  ),
  timeout: page(
    "The file takes longer to read than a parser may take.",
    `Divide it, or save it in a simpler format. ${SEND_ANOTHER_FILE}`,
  ),
  out_of_memory: page(
    "The file takes more memory than a parser may use.",
    `Divide it, or save it in a simpler format. ${SEND_ANOTHER_FILE}`,
  ),
  too_complex: page(
    "The file has more parts, or parts nested deeper, than a parser may read.",
    `Save it in a simpler format. ${SEND_ANOTHER_FILE}`,
  ),
  no_text: page(
    "The file holds no text: a scan without text recognition, for example.",
    `Recognize its text first, or upload another file. ${SEND_ANOTHER_FILE}`,
  ),
  rejected_by_provider: page(
    "The model provider refuses this content, by its own rules.",
    "Another content, or another model, may pass. Sending the same again does not help.",
  ),
  worker_crashed: page(
    "Reading the file ended the process that did it, also by itself.",
    `Save the file again in its program, and tell the operator. ${SEND_ANOTHER_FILE}`,
  ),
  superseded: page("A newer run of the document took this one's place.", "Look at the newer run."),
  cancelled: page("It was cancelled, by you or by the deletion of what it belongs to.", "Start it again."),
  // A service that this one depends on is down, or this one is too slow.
  provider_rate_limited: page("The model provider's limit is reached.", WORK_GOES_ON),
  provider_timeout: page("The model provider did not answer in time.", WORK_GOES_ON),
  provider_unavailable: page("The model provider cannot be reached, or fails.", WORK_GOES_ON),
  storage_unavailable: page("The object store or the key management cannot be reached.", WORK_GOES_ON),
  insufficient_storage: page("The disk is nearly full; reads, search and chat go on.", WORK_GOES_ON),
  database_unavailable: page("The database cannot be reached.", WORK_GOES_ON),
  workflows_unavailable: page("Temporal cannot be reached.", WORK_GOES_ON),
  issuer_unavailable: page(
    "The identity provider cannot be reached, so access tokens cannot be checked. API keys work.",
    SEND_AGAIN,
  ),
  starved: page("This service has too little processor time; nothing is down.", WORK_GOES_ON),
  internal: page(
    "A failure that nobody expected: a defect.",
    "Send the request again; if it fails again, give the operator its `X-Request-Id`: the log has the cause.",
  ),
};

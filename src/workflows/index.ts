/** The entry of the workflow bundle: workers know the workflows that are exported here. */
export { batchReprocess } from "./batch-reprocess.ts";
export { chatTurn } from "./chat-turn.ts";
export { chatTurns } from "./chat-turns.ts";
export { deleteTarget } from "./delete-target.ts";
export { documentPipeline } from "./document-pipeline.ts";
export { indexUpkeep } from "./index-upkeep.ts";
export { operation } from "./operation.ts";
export { maintenance } from "./maintenance.ts";
export { webhookDelivery } from "./webhook-delivery.ts";

/** Has the chat model rerank searches on the account of their callers, as it answers their turns. */
import { countUsage } from "../../agents/usage.ts";
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { ChatModel } from "../../models/chat/chat-model.ts";
import { createListwiseRerankers } from "../../models/rerank/by-chat-model.ts";
import type { Reranker } from "../../models/rerank/types.ts";
import type { Ledger } from "./bookkeeping/ledger.ts";

interface AccountDeps {
  readonly model: ChatModel;
  readonly ledger: Pick<Ledger, "call" | "end">;
  readonly apiProcessId: string;
  /** @throws DomainError `token_budget_exceeded`. */
  readonly checkBudgets: (principal: Principal) => Promise<void>;
}

/**
 * @returns what makes the reranker of a caller; undefined if the model is the built-in one, which ranks
 *   nothing. It throws `token_budget_exceeded` as well as what rerankers throw. Its calls are in the books as
 *   a turn that is no answer, so that they count in all budgets of tokens and in the usage.
 */
export function createAccountedRerankers({
  model,
  ledger,
  apiProcessId,
  checkBudgets,
}: AccountDeps): (principal: Principal) => Reranker | undefined {
  if (model.isLocal) return () => undefined;
  const rerankers = createListwiseRerankers(model);
  return (principal) => ({
    async rank(query, texts, signal) {
      await checkBudgets(principal);
      const organizationId = principal.organization.id;
      const turn = {
        id: newId(),
        organization_id: organizationId,
        space_id: null,
        agent_id: null,
        user_id: principal.user.id,
        api_key_id: principal.apiKeyId,
        api_process_id: apiProcessId,
        starts_conversation: false,
        started_at: new Date(),
        is_rerank: true,
      };
      let calls = 0;
      const reranker = rerankers((call) => {
        calls += 1;
        const count = (text: string): number => model.countTokens(text);
        const usage = call.usage ?? countUsage(count, call.messages, call.text);
        ledger.call({
          turn_id: turn.id,
          call_no: calls,
          organization_id: organizationId,
          model: call.model,
          prompt_tokens: usage.prompt_tokens,
          completion_tokens: usage.completion_tokens,
        });
      });
      let error: unknown;
      try {
        return await reranker.rank(query, texts, signal);
      } catch (thrown) {
        error = thrown;
        throw thrown;
      } finally {
        // What cost nothing leaves no row.
        if (calls > 0) ledger.end({ ...turn, ...endOf(error, signal), ended_at: new Date() });
      }
    },
  });
}

function endOf(error: unknown, signal: AbortSignal | undefined) {
  if (error === undefined) return { status: "completed", error_code: null } as const;
  const code = error instanceof DomainError ? error.code : "internal";
  return signal?.aborted === true
    ? ({ status: "cancelled", error_code: null } as const)
    : ({ status: "failed", error_code: code } as const);
}

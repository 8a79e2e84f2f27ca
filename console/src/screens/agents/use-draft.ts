/** What a person has changed of an agent and not saved yet, and the saving of it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { HoldfastError, type Schemas } from "@holdfast/client";
import { useState } from "react";
import { taggedAnswerOf } from "../../api/client.ts";
import { useHoldfast } from "../../app/context.ts";
import { changedSince } from "../../parts/changed-since.ts";
import { type Agent, type Difference, type Fields, changesOf, differencesOf, fieldsOf } from "./fields.ts";
import { agentQuery } from "./queries.ts";

export interface Tagged {
  readonly value: Agent;
  readonly etag: string | null;
}

interface Clash {
  readonly theirs: Tagged;
  readonly differences: readonly Difference[];
}

/** Each is another change of somebody else that came in between. */
const MOST_TRIES = 5;

export function useDraft(latest: Tagged) {
  const holdfast = useHoldfast();
  const queries = useQueryClient();
  // The agent as the person began to change it: what somebody else saves meanwhile is not taken for theirs.
  const [base, setBase] = useState(latest);
  const [own, setOwn] = useState<Partial<Fields>>({});
  const [clash, setClash] = useState<Clash | null>(null);
  const before = fieldsOf(base.value);
  const fields: Fields = { ...before, ...own };
  const isChanged = Object.keys(changesOf(before, fields)).length > 0;
  const isBehind = latest.etag !== base.etag;
  if (isBehind && !isChanged) setBase(latest);

  const query = agentQuery(holdfast, base.value.id);

  async function send(onto: Tagged, wanted: Fields, tries = 1): Promise<Tagged | Clash> {
    const request = holdfast.api.PATCH("/v1/agents/{agent_id}", {
      params: {
        path: { agent_id: onto.value.id },
        ...(onto.etag === null ? {} : { header: { "If-Match": onto.etag } }),
      },
      body: changesOf(fieldsOf(onto.value), wanted) as Schemas["AgentPatch"],
    });
    try {
      return await taggedAnswerOf(request);
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.status !== 412 || tries === MOST_TRIES) throw error;
      const theirs = await queries.fetchQuery({ ...query, staleTime: 0 });
      const differences = differencesOf(fieldsOf(onto.value), wanted, fieldsOf(theirs.value));
      if (differences.some(({ by }) => by !== "mine")) return { theirs, differences };
      // They changed nothing that differs, such as back and forth.
      return send(theirs, wanted, tries + 1);
    }
  }

  const save = useMutation({
    mutationFn: ({ onto, wanted }: { onto: Tagged; wanted: Fields }) => send(onto, wanted),
    async onSuccess(result, { wanted }) {
      if ("differences" in result) {
        setClash(result);
        return;
      }
      queries.setQueryData(query.queryKey, result);
      setBase(result);
      // What was typed since it was sent is not saved yet.
      setOwn((now) => changedSince<Fields>(now, wanted));
      setClash(null);
      await queries.invalidateQueries({ queryKey: ["agents"] });
    },
  });

  return {
    fields,
    isChanged,
    isBehind: isBehind && isChanged,
    clash,
    save,
    change(part: Partial<Fields>) {
      save.reset();
      setOwn({ ...own, ...part });
    },
    discard() {
      save.reset();
      setOwn({});
    },
    saveNow: () => save.mutate({ onto: base, wanted: fields }),
    /** After a clash: what was chosen goes onto the change of the other person. */
    saveChosen(wanted: Fields) {
      if (clash === null) return;
      setBase(clash.theirs);
      setOwn(changesOf(fieldsOf(clash.theirs.value), wanted));
      setClash(null);
      save.mutate({ onto: clash.theirs, wanted });
    },
    closeClash: () => setClash(null),
  };
}

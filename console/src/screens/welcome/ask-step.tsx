import { Anchor, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import type { Schemas } from "@holdfast/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { messages } from "./messages.ts";
import { Step } from "./step.tsx";

interface Props {
  readonly spaceId: string;
}

const SHOWN_AGENTS = 100;

/** Asks an agent of the space; where there is none, one is made first. */
export function AskStep({ spaceId }: Props): ReactNode {
  const { ask: texts } = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const [isAnswered, setIsAnswered] = useState(false);
  const agents = useQuery({
    queryKey: keyOf("agents", "of-space", spaceId),
    queryFn: ({ signal }) =>
      answerOf(
        api.POST("/v1/agents/search", {
          params: { query: { limit: SHOWN_AGENTS } },
          body: { filters: { space_id: spaceId } },
          signal,
        }),
      ),
  });
  const making = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST("/v1/agents", {
          body: { name: texts.agentName, space_id: spaceId, agent_type: "rag", system_prompt: texts.prompt },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["agents"] }),
  });
  return (
    <Step number={3} title={texts.title} text={texts.text} isDone={isAnswered}>
      <QueryView query={agents}>
        {({ items }) =>
          items.length > 0 ? (
            <Question agents={items} onAnswered={() => setIsAnswered(true)} />
          ) : (
            <Group gap="sm">
              <Text size="sm">{texts.makeText}</Text>
              <Button loading={making.isPending} onClick={() => making.mutate()}>
                {texts.make}
              </Button>
            </Group>
          )
        }
      </QueryView>
      {making.error !== null && <ScreenError error={making.error} />}
    </Step>
  );
}

interface QuestionProps {
  readonly agents: readonly Schemas["Agent"][];
  readonly onAnswered: () => void;
}

function Question({ agents, onAnswered }: QuestionProps): ReactNode {
  const { ask: texts, sample } = useMessages(messages);
  const holdfast = useHoldfast();
  const [agent, setAgent] = useState(agents[0]!.id);
  const [question, setQuestion] = useState(sample.question);
  const [answer, setAnswer] = useState("");
  const [citations, setCitations] = useState<readonly Schemas["Citation"][]>([]);
  const asking = useMutation({
    async mutationFn() {
      setAnswer("");
      setCitations([]);
      for await (const piece of holdfast.askInPieces({ agent, question })) {
        setAnswer((before) => before + piece.text);
        if (piece.citations !== undefined) setCitations(piece.citations);
      }
    },
    onSuccess: onAnswered,
  });
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          asking.mutate();
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextInput
            flex="1 1 240px"
            label={texts.question}
            value={question}
            onChange={(event) => setQuestion(event.currentTarget.value)}
            required
          />
          <Select
            w={160}
            label={texts.agent}
            allowDeselect={false}
            value={agent}
            onChange={(chosen) => chosen !== null && setAgent(chosen)}
            data={agents.map(({ id, name }) => ({ value: id, label: name }))}
          />
          <Button type="submit" loading={asking.isPending}>
            {texts.button}
          </Button>
        </Group>
      </form>
      {asking.error !== null && <ScreenError error={asking.error} />}
      <Text dir="auto" aria-live="polite" style={{ whiteSpace: "pre-line" }}>
        {answer}
      </Text>
      {citations.length > 0 && <Sources citations={citations} />}
      <Anchor size="sm" renderRoot={(props) => <Link to="/chat" search={{ agent }} {...props} />}>
        {texts.all}
      </Anchor>
    </>
  );
}

function Sources({ citations }: { readonly citations: readonly Schemas["Citation"][] }): ReactNode {
  const { ask: texts } = useMessages(messages);
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {texts.sources}
      </Text>
      {citations.map((citation) => (
        <Anchor
          key={citation.chunk_id}
          size="sm"
          renderRoot={(props) => (
            <Link
              to="/documents/$documentId"
              params={{ documentId: citation.document_id }}
              search={{ chunk: citation.chunk_id }}
              {...props}
            />
          )}
        >
          [{citation.index}] <Bidi>{citation.document_name}</Bidi>
        </Anchor>
      ))}
    </Stack>
  );
}

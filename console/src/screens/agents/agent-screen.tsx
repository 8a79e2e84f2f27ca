import { Button, Flex, Group, NativeSelect, Stack, Tabs, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { HoldfastError } from "@holdfast/client";
import { answerOf, fieldErrorsOf, taggedAnswerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useAccess } from "../../app/access.ts";
import { useHoldfast } from "../../app/context.ts";
import { messages as shell } from "../../app/messages.ts";
import { spacesQuery } from "../../app/spaces.ts";
import { useMessages } from "../../messages/messages.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { AgentForm } from "./agent-form.tsx";
import { Conflict } from "./conflict.tsx";
import { History } from "./history.tsx";
import { messages } from "./messages.ts";
import { RemoveAgent } from "./remove-agent.tsx";
import { TryOut } from "./try-out.tsx";
import { type Agent, NEW_AGENT, type Values, changesFrom, valuesOf } from "./values.ts";

/** One agent, or at `agents/new` one that is made. */
export function AgentScreen(): ReactNode {
  const { agentId } = useParams({ from: "/agents/$agentId" });
  return agentId === "new" ? <NewAgent /> : <KnownAgent key={agentId} agentId={agentId} />;
}

const agentPath = (agentId: string) => ({ params: { path: { agent_id: agentId } } });

function KnownAgent({ agentId }: { readonly agentId: string }): ReactNode {
  const { api } = useHoldfast();
  const agent = useQuery({
    queryKey: keyOf("agents", agentId),
    queryFn: () => taggedAnswerOf(api.GET("/v1/agents/{agent_id}", agentPath(agentId))),
  });
  return (
    <QueryView query={agent}>{({ value, etag }) => <Shown agent={value as Agent} etag={etag} />}</QueryView>
  );
}

interface ShownProps {
  readonly agent: Agent;
  readonly etag: string | null;
}

function Shown({ agent, etag }: ShownProps): ReactNode {
  const texts = useMessages(messages);
  const { tab } = useSearch({ from: "/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const can = useAccess(agent.space_id);
  const mayWrite = can("agents:write");
  const [isRemoving, setIsRemoving] = useState(false);
  return (
    <>
      <PageHeader title={agent.name} text={mayWrite ? agent.version : texts.readOnly}>
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/chat" search={{ agent: agent.id }} {...props} />}
        >
          {texts.chat}
        </Button>
        {mayWrite && (
          <Button variant="outline" color="red" onClick={() => setIsRemoving(true)}>
            {texts.remove}
          </Button>
        )}
      </PageHeader>
      <Tabs
        value={tab === "history" && mayWrite ? "history" : "configuration"}
        onChange={(next) => void navigate({ search: next === "history" ? { tab: next } : {}, replace: true })}
        keepMounted={false}
      >
        <Tabs.List aria-label={texts.tabsLabel}>
          <Tabs.Tab value="configuration">{texts.tabs.configuration}</Tabs.Tab>
          {mayWrite && <Tabs.Tab value="history">{texts.tabs.history}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="configuration" pt="md">
          <Flex gap="xl" direction={{ base: "column", lg: "row" }} align="flex-start">
            <Editor agent={agent} etag={etag} mayWrite={mayWrite} />
            <TryOut agentId={agent.id} />
          </Flex>
        </Tabs.Panel>
        <Tabs.Panel value="history" pt="md">
          <History agentId={agent.id} />
        </Tabs.Panel>
      </Tabs>
      {isRemoving && <RemoveAgent agent={agent} onClose={() => setIsRemoving(false)} />}
    </>
  );
}

interface EditorProps extends ShownProps {
  readonly mayWrite: boolean;
}

/** What somebody else has saved meanwhile. */
interface Meanwhile {
  readonly values: Values;
  readonly etag: string | null;
}

function Editor({ agent, etag, mayWrite }: EditorProps): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  // What the person began with: another person's change does not take away what was typed.
  const [base, setBase] = useState(() => ({ values: valuesOf(agent), etag }));
  const [values, setValues] = useState(base.values);
  const [meanwhile, setMeanwhile] = useState<Meanwhile | null>(null);
  const isChanged = Object.keys(changesFrom(base.values, values)).length > 0;
  const newest = valuesOf(agent);
  if (!isChanged && Object.keys(changesFrom(base.values, newest)).length > 0) {
    setBase({ values: newest, etag });
    setValues(newest);
  }
  const save = useMutation({
    mutationFn: async ({ wanted, from }: { readonly wanted: Values; readonly from: Meanwhile }) => {
      const header = from.etag === null ? {} : { header: { "If-Match": from.etag } };
      const saved = await taggedAnswerOf(
        api.PATCH("/v1/agents/{agent_id}", {
          params: { path: { agent_id: agent.id }, ...header },
          body: changesFrom(from.values, wanted) as never,
        }),
      );
      return { saved, wanted };
    },
    async onSuccess({ saved: { etag: next }, wanted }) {
      setBase({ values: wanted, etag: next });
      setValues(wanted);
      setMeanwhile(null);
      await queries.invalidateQueries({ queryKey: ["agents"] });
    },
    async onError(error) {
      if (!(error instanceof HoldfastError) || error.status !== 412) return;
      const { value, etag: now } = await taggedAnswerOf(
        api.GET("/v1/agents/{agent_id}", agentPath(agent.id)),
      );
      setMeanwhile({ values: valuesOf(value as Agent), etag: now });
    },
  });
  const errors = fieldErrorsOf(save.error);
  const isConflict = save.error instanceof HoldfastError && save.error.status === 412;
  return (
    <Stack flex={2} miw={0} w="100%">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({ wanted: values, from: base });
        }}
      >
        <AgentForm
          values={values}
          spaceId={agent.space_id}
          errors={errors}
          isReadOnly={!mayWrite}
          onChange={setValues}
        />
        {save.error !== null && !isConflict && Object.keys(errors).length === 0 && (
          <ScreenError error={save.error} />
        )}
        {mayWrite && (
          <Group mt="md">
            <Button type="submit" disabled={!isChanged} loading={save.isPending}>
              {texts.save}
            </Button>
            <Text size="sm" role="status">
              {isChanged ? texts.unsaved : save.isSuccess ? texts.saved : ""}
            </Text>
          </Group>
        )}
      </form>
      {meanwhile !== null && (
        <Conflict
          base={base.values}
          mine={values}
          theirs={meanwhile.values}
          onSave={(wanted) => save.mutate({ wanted, from: meanwhile })}
          onClose={() => setMeanwhile(null)}
        />
      )}
    </Stack>
  );
}

function NewAgent(): ReactNode {
  const texts = useMessages(messages);
  const { nav } = useMessages(shell);
  const holdfast = useHoldfast();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { space } = useSearch({ from: "/agents/$agentId" });
  const { data: spaces = [] } = useQuery(spacesQuery(holdfast));
  const [chosen, setChosen] = useState(space);
  const [values, setValues] = useState<Values>(NEW_AGENT);
  const spaceId = chosen ?? spaces.find(({ is_private: isPrivate }) => !isPrivate)?.id ?? spaces[0]?.id;
  const create = useMutation({
    mutationFn: () =>
      answerOf(
        holdfast.api.POST("/v1/agents", {
          body: {
            ...changesFrom(NEW_AGENT, values),
            agent_type: values.agent_type,
            name: values.name,
            space_id: spaceId!,
          } as never,
        }),
      ),
    async onSuccess(made) {
      await queries.invalidateQueries({ queryKey: ["agents"] });
      await navigate({ to: "/agents/$agentId", params: { agentId: (made as Agent).id } });
    },
  });
  const errors = fieldErrorsOf(create.error);
  return (
    <>
      <PageHeader title={texts.new} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Stack maw={860}>
          <NativeSelect
            label={texts.space}
            data={spaces.map(({ id, name, is_private: isPrivate }) => ({
              value: id,
              label: isPrivate ? nav.privateSpace : name,
            }))}
            value={spaceId ?? ""}
            onChange={(event) => setChosen(event.currentTarget.value)}
            error={errors["space_id"]}
          />
          <AgentForm
            values={values}
            spaceId={spaceId}
            errors={errors}
            isReadOnly={false}
            onChange={setValues}
          />
          {create.error !== null && Object.keys(errors).length === 0 && <ScreenError error={create.error} />}
          <Group>
            <Button type="submit" loading={create.isPending} disabled={spaceId === undefined}>
              {texts.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </>
  );
}

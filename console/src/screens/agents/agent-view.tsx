import { Alert, Anchor, Button, Grid, Group, Stack, Tabs, Text } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { useAccess } from "../../app/access.ts";
import { useMessages } from "../../messages/messages.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { AgentForm } from "./agent-form.tsx";
import { Conflict } from "./conflict.tsx";
import { DeleteAgent } from "./delete-agent.tsx";
import { fieldsOf } from "./fields.ts";
import { History } from "./history.tsx";
import { messages } from "./messages.ts";
import { isOfNoField, maySend, problemsOfForm } from "./problems.ts";
import { Trial } from "./trial.tsx";
import { type Tagged, useDraft } from "./use-draft.ts";

export function AgentView({ latest }: { readonly latest: Tagged }): ReactNode {
  const texts = useMessages(messages);
  const agent = latest.value;
  const can = useAccess(agent.space_id);
  const mayWrite = can("agents:write") && !agent.from_system;
  const draft = useDraft(latest);
  const question = useRef<HTMLTextAreaElement>(null);
  useShortcuts([{ keys: "t", label: texts.focusTrial, run: () => question.current?.focus() }]);
  return (
    <>
      <PageHeader
        title={agent.name}
        text={
          <Group gap="xs">
            <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/agents" {...props} />}>
              {texts.back}
            </Anchor>
            <Text size="sm">{texts.version(agent.version)}</Text>
          </Group>
        }
      >
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/chat" search={{ agent: agent.id }} {...props} />}
        >
          {texts.chat}
        </Button>
        {mayWrite && <DeleteAgent agent={agent} />}
      </PageHeader>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          {mayWrite ? (
            <Parts latest={latest} draft={draft} />
          ) : (
            <Stack>
              <Text>{texts.readOnly}</Text>
              <AgentForm
                fields={fieldsOf(agent)}
                problems={{}}
                spaceId={agent.space_id}
                isReadOnly
                onChange={ignore}
                onReasoningValid={ignore}
              />
            </Stack>
          )}
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Trial agentId={agent.id} isUnsaved={draft.isChanged} field={question} />
        </Grid.Col>
      </Grid>
    </>
  );
}

/** Of a form that is only read. */
const ignore = (): void => undefined;

interface PartProps {
  readonly latest: Tagged;
  readonly draft: ReturnType<typeof useDraft>;
}

function Parts(props: PartProps): ReactNode {
  const texts = useMessages(messages);
  const { tab } = useSearch({ from: "/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  return (
    <Tabs
      value={tab === "history" ? "history" : "settings"}
      onChange={(next) =>
        void navigate({ search: next === "history" ? { tab: "history" } : {}, replace: true })
      }
    >
      <Tabs.List aria-label={texts.tabsLabel}>
        <Tabs.Tab value="settings">{texts.tabs.settings}</Tabs.Tab>
        <Tabs.Tab value="history">{texts.tabs.history}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="settings" pt="md">
        <Settings {...props} />
      </Tabs.Panel>
      <Tabs.Panel value="history" pt="md">
        {tab === "history" && <History agentId={props.latest.value.id} />}
      </Tabs.Panel>
    </Tabs>
  );
}

function Settings({ latest, draft }: PartProps): ReactNode {
  const texts = useMessages(messages);
  const { fields, isChanged, save, clash } = draft;
  const [isReasoningValid, setIsReasoningValid] = useState(true);
  // A new form, and with it what was typed, after changes were thrown away.
  const [round, setRound] = useState(0);
  const mayDiscard = isChanged || !isReasoningValid;
  const isReady = isChanged && isReasoningValid && maySend(fields);
  const whoOf = ({ value }: Tagged): string => value.last_edited_by.name;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) draft.saveNow();
      }}
    >
      <Stack>
        {draft.isBehind && (
          <Alert color="yellow" variant="light" role="status">
            {texts.changedMeanwhile(whoOf(latest))}
          </Alert>
        )}
        <AgentForm
          key={round}
          fields={fields}
          onChange={draft.change}
          problems={problemsOfForm(fields, { error: save.error, isTouched: true, texts })}
          spaceId={latest.value.space_id}
          isReadOnly={false}
          onReasoningValid={setIsReasoningValid}
        />
        {isOfNoField(save.error) && <ScreenError error={save.error} />}
        <Group>
          <Button type="submit" disabled={!isReady} loading={save.isPending}>
            {texts.save}
          </Button>
          {mayDiscard && (
            <Button
              variant="default"
              onClick={() => {
                draft.discard();
                setIsReasoningValid(true);
                setRound(round + 1);
              }}
            >
              {texts.discard}
            </Button>
          )}
          {save.isSuccess && !isChanged && (
            <Text size="sm" role="status">
              {texts.saved}
            </Text>
          )}
        </Group>
      </Stack>
      {clash !== null && (
        <Conflict
          differences={clash.differences}
          theirs={fieldsOf(clash.theirs.value)}
          who={whoOf(clash.theirs)}
          onSave={draft.saveChosen}
          onClose={draft.closeClash}
        />
      )}
    </form>
  );
}

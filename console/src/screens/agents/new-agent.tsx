import type { Schemas } from "@holdfast/client";
import { Anchor, Button, Grid, Group, Paper, Select, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../api/client.ts";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { AgentForm } from "./agent-form.tsx";
import { type Fields, NEW_AGENT } from "./fields.ts";
import { messages } from "./messages.ts";
import { isOfNoField, maySend, problemsOfForm } from "./problems.ts";
import { type WritableSpace, useWritableSpaces } from "./writable-spaces.ts";

/** `?space=` is where it is made, unless another one is chosen. */
export function NewAgent(): ReactNode {
  const texts = useMessages(messages);
  const spaces = useWritableSpaces();
  return (
    <>
      <PageHeader
        title={texts.newTitle}
        text={
          <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/agents" {...props} />}>
            {texts.back}
          </Anchor>
        }
      />
      <QueryView query={spaces}>
        {(found) =>
          found.length === 0 ? (
            <Empty title={texts.noSpaces} text={texts.noSpacesText} />
          ) : (
            <Form spaces={found} />
          )
        }
      </QueryView>
    </>
  );
}

function Form({ spaces }: { readonly spaces: readonly WritableSpace[] }): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const address = useSearch({ from: "/agents/$agentId" });
  const spaceId = (spaces.find(({ id }) => id === address.space) ?? spaces[0]!).id;
  const [fields, setFields] = useState<Fields>(NEW_AGENT);
  const [isTouched, setIsTouched] = useState(false);
  const [isReasoningValid, setIsReasoningValid] = useState(true);
  const make = useMutation({
    mutationFn: () =>
      answerOf(api.POST("/v1/agents", { body: { ...fields, space_id: spaceId } as Schemas["AgentCreate"] })),
    async onSuccess({ id }) {
      await queries.invalidateQueries({ queryKey: ["agents"] });
      await navigate({ to: "/agents/$agentId", params: { agentId: id }, search: {} });
    },
  });
  const isReady = isReasoningValid && maySend(fields);
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            setIsTouched(true);
            if (isReady) make.mutate();
          }}
        >
          <Stack>
            <Select
              label={texts.space}
              allowDeselect={false}
              data={spaces.map(({ id, name }) => ({ value: id, label: name ?? texts.privateSpace }))}
              value={spaceId}
              onChange={(space) => {
                if (space === null) return;
                // Folders are those of a space.
                setFields({ ...fields, allowed_folder_ids: null });
                void navigate({ search: { space }, replace: true });
              }}
            />
            <AgentForm
              fields={fields}
              onChange={(part) => {
                make.reset();
                setIsTouched(true);
                setFields({ ...fields, ...part });
              }}
              problems={problemsOfForm(fields, { error: make.error, isTouched, texts })}
              spaceId={spaceId}
              isReadOnly={false}
              onReasoningValid={setIsReasoningValid}
            />
            {isOfNoField(make.error) && <ScreenError error={make.error} />}
            <Group>
              <Button type="submit" disabled={!isReady} loading={make.isPending}>
                {texts.create}
              </Button>
            </Group>
          </Stack>
        </form>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Paper withBorder p="md">
          <Title order={2} size="h4">
            {texts.trial.title}
          </Title>
          <Text size="sm">{texts.trial.later}</Text>
        </Paper>
      </Grid.Col>
    </Grid>
  );
}

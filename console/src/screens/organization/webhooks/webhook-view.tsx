import { Alert, Anchor, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../../api/client.ts";
import { useHoldfast } from "../../../app/context.ts";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { isAhead } from "../../../parts/lists/is-ahead.ts";
import { Confirm } from "../../../parts/lists/confirm.tsx";
import { SecretOnce } from "../../../parts/lists/secret-once.tsx";
import { StateBadge } from "../../../parts/lists/state-badge.tsx";
import { QueryView } from "../../../parts/query-view.tsx";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { Deliveries } from "./deliveries.tsx";
import { EventsOf, STATE_COLORS } from "./facts.tsx";
import { messages } from "./messages.ts";
import { ReplayEvents } from "./replay-events.tsx";
import { RollSecret } from "./roll-secret.tsx";
import { WebhookForm } from "./webhook-form.tsx";
import { type Webhook, expectDeliveries, webhookQuery } from "./webhook-queries.ts";

/** One webhook: what it gets, how it is, what can be done with it, and its deliveries. */
export function WebhookView({ id }: { readonly id: string }): ReactNode {
  const texts = useMessages(messages);
  const webhook = useQuery(webhookQuery(useHoldfast(), id));
  return (
    <Stack>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link to="/organization/$part" params={{ part: "webhooks" }} search={{}} {...props} />
        )}
      >
        {texts.back}
      </Anchor>
      <QueryView query={webhook}>
        {({ value, etag }) => (
          <>
            <Facts webhook={value} />
            <Actions webhook={value} etag={etag} />
            <Deliveries webhookId={id} />
          </>
        )}
      </QueryView>
    </Stack>
  );
}

function Facts({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const { status, status_reason: reason, failing_since: failing, overlap_ends_at: overlap } = webhook;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Title order={2} size="h4">
          <Bidi>{webhook.url}</Bidi>
        </Title>
        <StateBadge color={STATE_COLORS[status]}>{texts.states[status]}</StateBadge>
      </Group>
      {webhook.description !== null && <Bidi>{webhook.description}</Bidi>}
      {reason !== null && <Text size="sm">{texts.reasons[reason]}</Text>}
      {failing !== null && (
        <Alert color="red" variant="light">
          {texts.failing} {formats.time(failing)}
        </Alert>
      )}
      {overlap !== null && isAhead(overlap) && (
        <Text size="sm" c="dimmed">
          {texts.overlap(formats.time(overlap))}
        </Text>
      )}
      <Text size="sm">
        {texts.columns.of}: <EventsOf spaceId={webhook.space_id} />
      </Text>
      <Text size="sm">
        {texts.columns.types}: {webhook.types.length === 0 ? texts.allTypes : webhook.types.join(", ")}
      </Text>
    </Stack>
  );
}

type Open = "edit" | "roll" | "replay" | "delete";

interface ActionProps {
  readonly webhook: Webhook;
  readonly etag: string | null;
}

function Actions({ webhook, etag }: ActionProps): ReactNode {
  const texts = useMessages(messages);
  const [open, setOpen] = useState<Open>();
  const [secret, setSecret] = useState<string>();
  const done = useActions(webhook);
  const close = (): void => setOpen(undefined);
  const button = { size: "xs", variant: "default" } as const;
  return (
    <>
      <Group gap="xs">
        <Button {...button} onClick={() => setOpen("edit")}>
          {texts.edit}
        </Button>
        <Button {...button} loading={done.status.isPending} onClick={() => done.status.mutate()}>
          {webhook.status === "active" ? texts.pause : texts.resume}
        </Button>
        <Button {...button} loading={done.test.isPending} onClick={() => done.test.mutate()}>
          {texts.test}
        </Button>
        <Button {...button} onClick={() => setOpen("replay")}>
          {texts.replay}
        </Button>
        <Button {...button} onClick={() => setOpen("roll")}>
          {texts.roll}
        </Button>
        <Button {...button} c="var(--mantine-color-error)" onClick={() => setOpen("delete")}>
          {texts.delete}
        </Button>
      </Group>
      <Text size="sm" role="status">
        {done.test.isSuccess ? texts.tested : ""}
      </Text>
      {[done.status, done.test].map(
        ({ error }, index) => error !== null && <ScreenError key={index} error={error} />,
      )}
      {open === "edit" && <WebhookForm webhook={webhook} etag={etag} onDone={close} onClose={close} />}
      {open === "replay" && <ReplayEvents webhookId={webhook.id} onClose={close} />}
      {open === "roll" && (
        <RollSecret
          webhookId={webhook.id}
          onRolled={(rolled) => {
            close();
            setSecret(rolled);
          }}
          onClose={close}
        />
      )}
      {open === "delete" && (
        <Confirm title={texts.deleteTitle} action={texts.delete} onConfirm={done.remove} onClose={close}>
          {[webhook.url, texts.deleteText]}
        </Confirm>
      )}
      {secret !== undefined && (
        <SecretOnce
          title={texts.rolledTitle}
          text={texts.secretText}
          secret={secret}
          fileName="webhook-secret.txt"
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  );
}

function useActions({ id, status }: Webhook) {
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const params = { path: { webhook_id: id } };
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ["webhooks"] });
  return {
    status: useMutation({
      mutationFn: () =>
        answerOf(
          api.PATCH("/v1/webhooks/{webhook_id}", {
            params,
            body: { status: status === "active" ? "paused" : "active" },
          }),
        ),
      onSettled: refresh,
    }),
    test: useMutation({
      mutationFn: () => answerOf(api.POST("/v1/webhooks/{webhook_id}/test", { params })),
      onSuccess: () => expectDeliveries(id),
      onSettled: refresh,
    }),
    async remove() {
      await answerOf(api.DELETE("/v1/webhooks/{webhook_id}", { params }));
      await navigate({ to: "/organization/$part", params: { part: "webhooks" }, search: {} });
      await refresh();
    },
  };
}

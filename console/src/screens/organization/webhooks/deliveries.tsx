import { Button, Code, Group, NativeSelect, Stack, Table, Text, Title } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../../api/client.ts";
import { useHoldfast } from "../../../app/context.ts";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Empty } from "../../../parts/empty.tsx";
import { type StateColor, StateBadge } from "../../../parts/lists/state-badge.tsx";
import { WideTable } from "../../../parts/lists/wide-table.tsx";
import { QueryView } from "../../../parts/query-view.tsx";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { Ago } from "../../../parts/time.tsx";
import { messages } from "./messages.ts";
import { type Delivery, deliveriesQuery, expectDeliveries } from "./webhook-queries.ts";

type Status = Delivery["status"];

const COLORS: Readonly<Record<Status, StateColor>> = {
  pending: "indigo",
  delivered: "green",
  failed: "red",
  skipped: "gray",
};

/** What was sent, newest first, how it was answered, and what is tried again. */
export function Deliveries({ webhookId }: { readonly webhookId: string }): ReactNode {
  const texts = useMessages(messages).deliveries;
  const { columns } = texts;
  const [status, setStatus] = useState<Status>();
  const deliveries = useInfiniteQuery(deliveriesQuery(useHoldfast(), webhookId, status));
  const again = useRedeliver(webhookId);
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end">
        <Title order={3} size="h5">
          {texts.title}
        </Title>
        <NativeSelect
          size="xs"
          label={texts.status}
          data={[
            { value: "", label: texts.any },
            ...Object.entries(texts.states).map(([value, label]) => ({ value, label })),
          ]}
          value={status ?? ""}
          onChange={({ currentTarget: { value } }) => setStatus(value === "" ? undefined : (value as Status))}
        />
      </Group>
      {again.error !== null && <ScreenError error={again.error} />}
      <QueryView query={deliveries}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0) return <Empty title={texts.none} text={texts.noneText} />;
          return (
            <WideTable
              label={texts.title}
              columns={[columns.type, columns.state, columns.attempts, columns.answer, columns.at, ""]}
            >
              {items.map((delivery) => (
                <DeliveryRow
                  key={delivery.id}
                  delivery={delivery}
                  onAgain={() => again.mutate(delivery.id)}
                />
              ))}
            </WideTable>
          );
        }}
      </QueryView>
      {deliveries.hasNextPage && (
        <Button
          variant="default"
          loading={deliveries.isFetchingNextPage}
          onClick={() => void deliveries.fetchNextPage()}
        >
          {texts.more}
        </Button>
      )}
    </Stack>
  );
}

function useRedeliver(webhookId: string) {
  const { api } = useHoldfast();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (deliveryId: string) =>
      answerOf(
        api.POST("/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", {
          params: { path: { webhook_id: webhookId, delivery_id: deliveryId } },
        }),
      ),
    onSuccess: () => expectDeliveries(webhookId),
    onSettled: () => queries.invalidateQueries({ queryKey: ["webhooks", "deliveries"] }),
  });
}

interface RowProps {
  readonly delivery: Delivery;
  readonly onAgain: () => void;
}

function DeliveryRow({ delivery, onAgain }: RowProps): ReactNode {
  const texts = useMessages(messages).deliveries;
  const formats = useFormats();
  const { status, event_type: type, error_code: code, http_status: http, duration_ms: took } = delivery;
  return (
    <Table.Tr>
      <Table.Td>
        <Code>{type ?? texts.forgotten}</Code>
      </Table.Td>
      <Table.Td>
        <StateBadge color={COLORS[status]}>{texts.states[status]}</StateBadge>
        {delivery.next_attempt_at !== null && (
          <Text size="xs" c="dimmed">
            {texts.next}: {formats.time(delivery.next_attempt_at)}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{formats.number(delivery.attempts)}</Table.Td>
      <Table.Td>
        <Text size="sm">
          {http ?? (delivery.attempts === 0 ? "" : texts.noAnswer)}
          {took !== null && ` · ${formats.duration(took)}`}
        </Text>
        {code !== null && (
          <Text size="xs" c="dimmed">
            {code}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Ago at={delivery.created_at} />
      </Table.Td>
      <Table.Td ta="end">
        {type !== null && status !== "pending" && (
          <Button size="compact-sm" variant="default" aria-label={texts.againOf(type)} onClick={onAgain}>
            {texts.again}
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

import { Alert, Button, Code, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Schemas } from "@holdfast/client";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { answerOf } from "../../../api/client.ts";
import { useHoldfast, useMe } from "../../../app/context.ts";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { messages } from "./messages.ts";

type Part = Schemas["AuditChainPart"];

/** What all parts of the chain say together. */
interface Checked extends Pick<Part, "head" | "fault" | "unchained"> {
  readonly rows: number;
}

/** Has the service check the chain of the audit log, part after part, and says what it found. */
export function ChainCheck(): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const { api } = useHoldfast();
  const { organization } = useMe();
  const [soFar, setSoFar] = useState(0);
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const check = useMutation({
    mutationFn: async (): Promise<Checked> => {
      let rows = 0;
      setSoFar(0);
      for (let after = 0; ;) {
        const part = await answerOf(
          api.GET("/v1/organizations/{organization_id}/audit-log/chain", {
            params: { path: { organization_id: organization.id }, query: { after } },
          }),
        );
        rows += part.checked;
        setSoFar(rows);
        if (part.next === null || !isShown.current) return { ...part, rows };
        after = part.next;
      }
    },
  });
  return (
    <>
      <Button variant="default" size="xs" loading={check.isPending} onClick={() => check.mutate()}>
        {texts.chain.check}
      </Button>
      {check.isPending && (
        <Text size="sm" c="dimmed" role="status">
          {texts.chain.running(formats.number(soFar))}
        </Text>
      )}
      {check.error !== null && <ScreenError error={check.error} />}
      {check.data !== undefined && <Outcome checked={check.data} />}
    </>
  );
}

function Outcome({ checked: { rows, head, fault, unchained } }: { readonly checked: Checked }): ReactNode {
  const { chain } = useMessages(messages);
  const formats = useFormats();
  if (fault !== null)
    return (
      <Alert color="red" variant="light" title={chain.broken} role="alert" w="100%">
        {chain.faults[fault.kind](formats.number(fault.seq))}
      </Alert>
    );
  return (
    <Alert color="green" variant="light" title={chain.whole(formats.number(rows))} role="status" w="100%">
      {unchained > 0 && <Text size="sm">{chain.unchained(formats.number(unchained))}</Text>}
      {head.seq > 0 && (
        <>
          <Text size="sm">{chain.head}</Text>
          <Code style={{ overflowWrap: "anywhere" }}>
            {head.seq}:{head.hash}
          </Code>
        </>
      )}
    </Alert>
  );
}

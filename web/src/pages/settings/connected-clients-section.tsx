import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Card } from "../../design/card.tsx";
import { DataList, DataListText } from "../../design/data-list.tsx";
import { useToast } from "../../design/toast.tsx";
import { formatMoment, formatSince } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";

/** Programs that got a key through browser authorization. */
export function ConnectedClientsSection() {
  const answers = useAnswerCache();
  const repeat = useReauthentication();
  const showToast = useToast();
  const clients = useTableQuery(queryTable.clients.list());
  const disconnect = useAction(
    (id: string) => repeat(() => ask(api.DELETE("/connected-clients/{id}", { params: { path: { id } } }))),
    () => {
      showToast("Disconnected. Its key is revoked.");
      return answers.refresh("clients");
    },
  );
  return (
    <Card title="Connected programs" intro="Programs that you authorized in the browser.">
      <div className="flex flex-col gap-4">
        <FormError message={disconnect.errorBeside()} />
        <DataList label="Connected programs" query={clients} empty="No program is connected." keyOf={({ id }) => id}>
          {(client) => (
            <>
              <DataListText
                title={client.client}
                detail={[
                  `Connected ${formatMoment(client.created_at)}`,
                  client.last_used_at === null ? "never used" : `used ${formatSince(client.last_used_at, new Date())}`,
                ].join(" · ")}
              />
              <Button
                look="danger"
                onClick={() => disconnect.run(client.id)}
                aria-label={`Disconnect ${client.client}`}
              >
                Disconnect
              </Button>
            </>
          )}
        </DataList>
      </div>
    </Card>
  );
}

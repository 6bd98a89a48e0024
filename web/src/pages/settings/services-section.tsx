import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Card } from "../../design/card.tsx";
import { DataList, DataListText } from "../../design/data-list.tsx";
import { useToast } from "../../design/toast.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";

export function ServicesSection() {
  const answers = useAnswerCache();
  const repeat = useReauthentication();
  const showToast = useToast();
  const services = useTableQuery(queryTable.services.list());
  const connect = useAction(
    (id: string) => repeat(() => ask(api.POST("/services/{id}/connect", { params: { path: { id } }, body: {} }))),
    ({ location: there }) => location.assign(there),
  );
  const disconnect = useAction(
    (id: string) => repeat(() => ask(api.DELETE("/services/{id}", { params: { path: { id } } }))),
    () => {
      showToast("Disconnected. It can no longer sign you in.");
      return answers.refresh("services");
    },
  );
  return (
    <Card title="Connected services" intro="Other services that can sign you in here.">
      <div className="flex flex-col gap-4">
        <FormError message={connect.errorBeside() ?? disconnect.errorBeside()} />
        <DataList label="Connected services" query={services} empty="No services are available." keyOf={({ id }) => id}>
          {({ id, name, connected_at: connectedAt, is_offered: isOffered }) => (
            <>
              <DataListText
                title={name}
                detail={[
                  connectedAt === null ? "Not connected" : `Connected ${formatMoment(connectedAt)}`,
                  ...(isOffered ? [] : ["no longer offered"]),
                ].join(" · ")}
              />
              {connectedAt === null ? (
                <Button isBusy={connect.isBusy} onClick={() => connect.run(id)} aria-label={`Connect ${name}`}>
                  Connect
                </Button>
              ) : (
                <Button look="danger" onClick={() => disconnect.run(id)} aria-label={`Disconnect ${name}`}>
                  Disconnect
                </Button>
              )}
            </>
          )}
        </DataList>
      </div>
    </Card>
  );
}

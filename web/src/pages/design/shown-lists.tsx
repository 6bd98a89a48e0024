import { DataListText } from "../../design/data-list.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";

type Row = { id: string; calls: number };

const listRows = (count: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({ id: `model-${index}`, calls: index * 17 }));

const columns: Column<Row>[] = [
  { name: "Model", cell: ({ id }) => id, total: "Total" },
  { name: "Calls", align: "right", cell: ({ calls }) => calls, total: 51 },
];

const empty = <EmptyState title="No models" />;

export function ShownLists() {
  const shared = { columns, empty, keyOf: ({ id }: Row) => id };
  return (
    <>
      <DataTable label="Rows" rows={listRows(3)} {...shared} />
      <DataTable label="Loading" rows={undefined} expectedRows={2} {...shared} />
      <DataTable label="None" rows={[]} {...shared} />
      <DataTable label="Failed" rows={undefined} error={new Error("The service is busy.")} {...shared} />
      <DataListText title="A row of a list" detail="Details" />
      <DataTable label="Three hundred rows" rows={listRows(300)} {...shared} />
    </>
  );
}

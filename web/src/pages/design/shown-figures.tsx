import type { ChartBar } from "../../design/chart-bar.ts";
import { ExactFigure } from "../../design/exact-figure.tsx";
import { FactList } from "../../design/fact-list.tsx";
import { LazyBarChart } from "../../design/lazy-bar-chart.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { assignColours } from "../../design/series-colours.ts";
import { Skeleton } from "../../design/skeleton.tsx";
import { Spinner } from "../../design/spinner.tsx";
import { Stat } from "../../design/stat.tsx";

const models = ["sandbox-chat", "sandbox-chat-pro", "sandbox-image", "sandbox-video", "sandbox-drama"];
const colours = assignColours(models);
const bars = Array.from({ length: 24 }, (_, hour): ChartBar => {
  const parts = models.map((id, place) => {
    const size = (hour * (place + 3)) % 7;
    return { id, name: id, size, text: String(size), colour: colours.get(id) ?? 0 };
  });
  const name = `${String(hour).padStart(2, "0")}:00`;
  return { id: name, name, mark: name, text: String(parts.reduce((sum, { size }) => sum + size, 0)), parts };
});

export function ShownFigures() {
  return (
    <>
      <div className="grid grid-cols-2 gap-6">
        <Stat label="A figure" value={<ExactFigure short="$79.83" exact="$79.830277015" />} detail="A detail" />
        <Stat label="Loading" value={undefined} />
      </div>
      <LazyBarChart
        label="Calls by hour and model"
        bars={bars}
        isWhole
        writeTick={String}
        openId="09:00"
        onOpen={() => {}}
      />
      <ProgressBar label="Progress" percent={40} />
      <FactList
        facts={[
          { name: "Cash", value: "$74.2470341" },
          { name: "Gift", value: "$1.28" },
        ]}
      />
      <Spinner />
      <Skeleton className="h-12" />
    </>
  );
}

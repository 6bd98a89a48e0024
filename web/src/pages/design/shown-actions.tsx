import { useState } from "react";
import { Button, buttonClasses } from "../../design/button.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { Icon } from "../../design/icon.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Menu, MenuChoice, MenuItem } from "../../design/menu.tsx";
import { type Tab, Tabs } from "../../design/tabs.tsx";
import { useToast } from "../../design/toast.tsx";

const looks = ["primary", "plain", "danger", "quiet"] as const;
const icons = ["overview", "playground", "models", "keys", "tasks", "webhooks", "usage", "billing", "search"] as const;
const themes: readonly { value: "system" | "dark"; label: string }[] = [
  { value: "system", label: "System" },
  { value: "dark", label: "Dark" },
];
const tabs: readonly Tab<"one" | "two">[] = [
  { id: "one", label: "One" },
  { id: "two", label: "Two" },
];

export function ShownActions() {
  const showToast = useToast();
  const [isOpen, setOpen] = useState(false);
  const [tab, setTab] = useState<"one" | "two">("one");
  const [choice, setChoice] = useState<"system" | "dark">("system");
  return (
    <>
      {[{}, { isBusy: true }, { isDisabled: true }].map((state) => (
        <div key={Object.keys(state).join()} className="flex flex-wrap gap-3">
          {looks.map((look) => (
            <Button key={look} look={look} {...state}>
              <Icon name="plus" />
              {look}
            </Button>
          ))}
        </div>
      ))}
      <div className="flex flex-wrap items-center gap-3">
        <a href="#link" className={buttonClasses("primary")}>
          See all usage
        </a>
        <CopyButton text="copied" />
        <Button onClick={() => setOpen(true)}>Open a dialog</Button>
        <Button onClick={() => showToast("Done.")}>Show a toast</Button>
        <Button onClick={() => showToast("Done.", () => {})}>Show a toast with undo</Button>
        <Menu label="A menu" name="A menu">
          <MenuChoice
            label="Theme"
            options={themes}
            chosen={choice}
            onChoose={(value) => setChoice(value === "dark" ? value : "system")}
          />
          <MenuItem onSelect={() => {}}>An item</MenuItem>
        </Menu>
      </div>
      {isOpen && (
        <Dialog title="A dialog" onClose={() => setOpen(false)}>
          <p>Dialog text.</p>
          <Button onClick={() => setOpen(false)}>Close</Button>
        </Dialog>
      )}
      <div className="flex flex-wrap gap-3 text-ink-soft">
        {icons.map((name) => (
          <Icon key={name} name={name} />
        ))}
      </div>
      <Tabs label="Tabs" tabs={tabs} chosen={tab} onChoose={(id) => setTab(id === "two" ? id : "one")}>
        Content of tab {tab}.
      </Tabs>
      <LoadMore hasMore isBusy={false} onMore={() => {}} />
    </>
  );
}

import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { AdminTabs } from "../admin-tabs.tsx";
import { Books } from "./books.tsx";
import { CodeBatches } from "./code-batches.tsx";
import { CreditEntries } from "./credit-entries.tsx";
import { Documents } from "./documents.tsx";
import { FrozenAccounts } from "./frozen-accounts.tsx";
import { Margins } from "./margins.tsx";
import { Payments } from "./payments.tsx";
import { Revenue } from "./revenue.tsx";
import { Reversals } from "./reversals.tsx";
import { Verifications } from "./verifications.tsx";

const tabs = [
  { id: "payments", label: "Payments" },
  { id: "reversals", label: "Refunds and disputes" },
  { id: "documents", label: "Invoices" },
  { id: "entries", label: "Credit entries" },
  { id: "revenue", label: "Revenue" },
  { id: "books", label: "Books" },
  { id: "margins", label: "Margins" },
  { id: "codes", label: "Codes" },
  { id: "frozen", label: "Frozen accounts" },
  { id: "ledger", label: "Verification" },
] as const;

const views = {
  payments: Payments,
  reversals: Reversals,
  documents: Documents,
  entries: CreditEntries,
  revenue: Revenue,
  books: Books,
  margins: Margins,
  codes: CodeBatches,
  frozen: FrozenAccounts,
  ledger: Verifications,
} as const;

/** The money of all accounts. */
export function MoneyPage() {
  return (
    <ConsoleFrame title="Money" intro="Payments, credit and revenue of all accounts.">
      <AdminTabs label="Money" tabs={tabs}>
        {(chosen) => {
          const View = views[chosen];
          return <View />;
        }}
      </AdminTabs>
    </ConsoleFrame>
  );
}

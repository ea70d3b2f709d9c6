package idempotency

// SetDailyBudget sets how many bytes of long responses an owner may store in Lifetime.
func (k *Keys) SetDailyBudget(bytes int) { k.budgets = newBudgets(bytes) }

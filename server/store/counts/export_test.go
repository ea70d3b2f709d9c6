package counts

const MaxCategory = maxCategory

package site

// Slug is how the id of a heading is made.
var Slug = slug

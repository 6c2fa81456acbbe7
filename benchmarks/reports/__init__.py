"""What the reports share: numbers as text, documents in Markdown and HTML, figures."""
